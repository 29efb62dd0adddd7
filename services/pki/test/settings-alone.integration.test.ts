/**
 * Every declared parameter of the operations that make no certificate, in body or query, sent alone with a
 * telling value: the effect that can be read differs, the request is refused, or a warning names the
 * parameter. A parameter that limits is never answered with a warning alone. The operations that make
 * certificates are walked in parameters-alone.integration.test.ts.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import {
  type AskedAlone,
  judgeAlone,
  operationsWithParameters,
} from '@keelson/testkit/parameters-alone';
import { decodePem, parseCrl, toSerialHex } from '@keelson/x509';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FIELD_GROUPS } from './accepted-fields-table.ts';
import { AcmeClient, CLUSTER_PATH } from './acme-client.ts';
import type { Effect } from './field-effects.ts';
import { leafRole, MERGE_PATCH, type Mounts, openMounts } from './open-mounts.ts';
import { type Answer, aMount } from './open-pki.ts';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly names: readonly string[];
}

let mounts: Mounts;
let operations: readonly Operation[];

/** The operations that parameters-alone.integration.test.ts walks. */
const MAKES_CERTIFICATE =
  /^(?:issuer\/\{issuer_ref\}\/)?(?:external-policy\/[a-z-]+(?:\/\{policy\})?$|(?:issue|sign|sign-verbatim|(?:root\/)?sign-intermediate)(?:\/\{name\})?$)|(?:generate|rotate)\/(?:root\/|intermediate\/)?\{type\}$|cross-sign$/;

beforeAll(async () => {
  mounts = await openMounts();
  const { pathsJson } = await mounts.pki.service.edge.describe();
  operations = operationsWithParameters(pathsJson).flatMap(({ route, names }) => {
    const [method = '', path = ''] = route.split(' /');
    const isMaker = MAKES_CERTIFICATE.test(path) && !path.startsWith('keys/');
    return isMaker ? [] : [{ method: method.toLowerCase(), path, names }];
  });
}, 60_000);
afterAll(() => mounts.close());

type Body = Readonly<Record<string, unknown>>;

/** A mount of its own, and what the preparation of a way left there. */
interface Place {
  readonly call: (method: string, path: string, body?: unknown) => Promise<Answer>;
  readonly done: (path: string, body?: unknown) => Promise<Answer>;
  readonly client: () => AcmeClient;
}

/** Texts that the preparation found: ids, serial numbers, PEM. */
type Found = Readonly<Record<string, string>>;

/** A value that must be noticed, and the other parameters that it needs. */
interface Telling {
  readonly value: unknown;
  readonly beside?: Body;
}

/** One way to call an operation. */
interface Way {
  readonly method?: string;
  readonly path: RegExp;
  readonly prepare?: (place: Place) => Promise<Found>;
  readonly at?: (path: string, found: Found) => string;
  readonly least?: (found: Found) => Body;
  readonly values?: (found: Found, path: string) => Readonly<Record<string, Telling>>;
  /** The effect of the request, read afterwards; the answer when omitted. */
  readonly observe?: (place: Place, path: string, found: Found, answer: Answer) => Promise<unknown>;
}

let serial = 0;
const newPlace = async (): Promise<Place> => {
  serial += 1;
  const uuid = `8f0b1c1e-0000-4000-a000-${String(serial).padStart(12, '0')}`;
  const mount = aMount({ uuid, path: `alone-${serial}/` });
  const { pki, post, root } = mounts;
  await root('First', mount, { issuer_name: 'first', key_name: 'first-key' });
  await post('roles/any', { ...leafRole, ttl: '1h' }, mount);
  await post('roles/plain', {}, mount);
  await post('config/cluster', { path: CLUSTER_PATH }, mount);
  return {
    call: (method, path, body) =>
      pki.call(method, path, body, { mount, ...(method === 'PATCH' && MERGE_PATCH) }),
    done: (path, body) => post(path, body, mount),
    client: () => new AcmeClient(pki, 'acme/', undefined, mount),
  };
};

const issued = async ({ done }: Place, body: object = {}): Promise<Found> =>
  (await done('issue/any', { common_name: 'a.example.com', ...body })).data;

const authority = async (): Promise<Found> => {
  serial += 1;
  const mount = aMount({
    uuid: `8f0b1c1e-0000-4000-a000-${String(serial).padStart(12, '0')}`,
    path: `authority-${serial}/`,
  });
  return (
    await mounts.post(
      'root/generate/exported',
      { common_name: `Authority ${serial}`, key_type: 'ec', ttl: '1000h' },
      mount,
    )
  ).data;
};

/** The value that the table of accepted fields tries. */
const ofTable = (name: string, path: string): Telling | undefined => {
  const effect: Effect | undefined = Object.values(FIELD_GROUPS).find(({ paths }) =>
    paths.includes(path),
  )?.fields[name];
  if (effect === undefined || !('value' in effect)) return undefined;
  return {
    value: effect.value,
    ...('additional' in effect && { beside: effect.additional as Body }),
  };
};

const secondIssuer = async ({ done }: Place): Promise<Found> => {
  const root = { common_name: 'Second', key_type: 'ec', ttl: '1000h' };
  await done('root/generate/internal', { ...root, issuer_name: 'second', key_name: 'second-key' });
  await done('root/generate/internal', { ...root, issuer_name: 'next' });
  return {};
};

/** A certificate that is revoked, and another. */
const twoCertificates = async (place: Place): Promise<Found> => {
  const [one, two] = [await issued(place), await issued(place)];
  return {
    serial: one['serial_number'] ?? '',
    certificate: one['certificate'] ?? '',
    key: one['private_key'] ?? '',
    other: two['serial_number'] ?? '',
    otherCertificate: two['certificate'] ?? '',
    otherKey: two['private_key'] ?? '',
  };
};

/** Which of two certificates the list names, and with which extensions. */
const revoked = async ({ call }: Place, found: Found): Promise<unknown> =>
  parseCrl((await call('GET', 'crl')).bytes).entries.map(({ serialNumber, extensions }) => [
    toSerialHex(serialNumber) === found['serial'],
    extensions?.map(({ value }) => Buffer.from(value).toString('hex')),
  ]);

const crlOf = ({ data }: Answer) => {
  const text: string = data?.crl ?? '';
  const isPem = text.includes('BEGIN');
  const der = isPem ? decodePem(text)[0]?.der : Buffer.from(text, 'base64');
  if (der === undefined || der.byteLength === 0) return undefined;
  const { extensions, entries, nextUpdateMs } = parseCrl(der);
  return [
    isPem,
    nextUpdateMs,
    entries.length,
    extensions.map(({ oid, value }) =>
      oid === '2.5.29.35' ? oid : `${oid} ${Buffer.from(value).toString('hex')}`,
    ),
  ];
};

/** Names and kinds of the keys of the mount, as they are listed. */
const keysOf = async ({ call }: Place): Promise<unknown> => {
  const { data } = await call('LIST', 'keys');
  const keys: Readonly<Record<'key_name' | 'key_type', string>>[] = Object.values(data.key_info);
  return keys.map(({ key_name, key_type }) => `${key_name} ${key_type}`).sort();
};

const LISTED = 3;

/** Three of everything that is listed. */
const seeded = async (place: Place): Promise<Found> => {
  const { call, done, client } = place;
  await secondIssuer(place);
  await done('config/crl', { unified_crl: true, cross_cluster_revocation: true });
  await done('config/acme', { enabled: true });
  for (let at = 0; at < LISTED; at++) {
    await done(`roles/role-${at}`, leafRole);
    const { serial_number } = await issued(place, { metadata: 'bWV0YQ==', ttl: `${at + 1}h` });
    await done('revoke', { serial_number, reason: 'keyCompromise' });
    await done('revoke', { serial_number: `0${at}:01` });
    await done('acme/new-eab');
    await client().register();
  }
  expect((await call('LIST', 'certs/revocation-queue')).data.keys).toHaveLength(LISTED);
  return {};
};

const WAYS: readonly Way[] = [
  {
    method: 'list',
    path: /./,
    prepare: seeded,
    values: ({ first = '', soon = '' }) => ({
      after: { value: first },
      limit: { value: 1 },
      expires_after: { value: soon },
      expires_before: { value: soon },
      revoked: { value: true },
    }),
  },
  {
    path: /^issuer\/\{issuer_ref\}$/,
    values: () => ({ revocation_signature_algorithm: { value: 'ECDSAWithSHA512' } }),
    observe: async ({ call }, path) => (await call('GET', path)).data,
  },
  {
    path: /^config\/issuers$|^root\/replace$/,
    prepare: secondIssuer,
    values: () => ({ default: { value: 'second' } }),
    observe: async ({ call }) => [
      (await call('GET', 'issuer/default')).data.issuer_name,
      (await call('GET', 'config/issuers')).data.default_follows_latest_issuer,
    ],
  },
  {
    path: /^config\/keys$/,
    prepare: secondIssuer,
    values: () => ({ default: { value: 'second-key' } }),
    observe: async ({ call }) => (await call('GET', 'key/default')).data.key_name,
  },
  {
    path: /^config\/external-policy$/,
    prepare: async () => {
      const { certificate = '', private_key = '' } = await authority();
      return { certificate, bundle: `${private_key}\n${certificate}` };
    },
    values: ({ certificate, bundle }) => ({
      enabled: { value: true, beside: { external_service_url: 'https://a.example.com/' } },
      trusted_ca: { value: certificate },
      trusted_leaf_certificate_bundle: { value: certificate },
      vault_client_cert_bundle: { value: bundle },
    }),
    observe: async ({ call }, path) => (await call('GET', path)).data,
  },
  {
    path: /^(?:config\/(?:crl|auto-tidy|urls|cluster|acme|est)|roles\/\{name\}|key\/\{key_ref\})$/,
    values: () => ({ tidy_revocation_list: { value: true } }),
    observe: async ({ call }, path) => (await call('GET', path)).data,
  },
  {
    path: /^history$/,
    values: () => ({ window: { value: 'month' } }),
  },
  {
    path: /^tidy$/,
    least: () => ({ tidy_cert_store: true }),
    values: () => ({
      tidy_cert_store: { value: false },
      tidy_revocation_list: { value: true },
    }),
    observe: async ({ call }) => {
      const { data } = await call('GET', 'tidy-status');
      const settings = Object.entries(data).filter(([name]) =>
        /^tidy_|_buffer$|^pa[ug]/.test(name),
      );
      return Object.fromEntries(settings);
    },
  },
  {
    path: /^keys\/generate\/\{type\}$/,
    at: () => 'keys/generate/exported',
    least: () => ({ key_type: 'ec' }),
    values: () => ({ key_type: { value: 'ed25519' } }),
    observe: async (place, _, __, { data }) => {
      const { asymmetricKeyDetails } = createPrivateKey(data.private_key);
      return [await keysOf(place), asymmetricKeyDetails?.namedCurve];
    },
  },
  {
    path: /^keys\/import$/,
    prepare: async () => ({
      one: (await authority())['private_key'] ?? '',
      other: mounts.openssl('genpkey', '-algorithm', 'ED25519'),
    }),
    least: ({ one }) => ({ pem_bundle: one }),
    values: ({ other }) => ({ pem_bundle: { value: other }, key_name: { value: 'imported' } }),
    observe: keysOf,
  },
  {
    path: /^config\/ca$|^issuers\/import\/(?:bundle|cert)$|set-signed$/,
    prepare: async () => ({
      one: (await authority())['certificate'] ?? '',
      both: [(await authority())['certificate'], (await authority())['certificate']].join('\n'),
    }),
    least: ({ one }) => ({ pem_bundle: one }),
    values: ({ one, both }) => ({ pem_bundle: { value: both }, certificate: { value: one } }),
    observe: async ({ call }) => (await call('LIST', 'issuers')).data.keys.length,
  },
  {
    path: /^revoke$/,
    prepare: twoCertificates,
    least: ({ serial }) => ({ serial_number: serial }),
    values: ({ other, otherCertificate }) => ({
      serial_number: { value: other },
      certificate: { value: otherCertificate },
      reason: { value: 'superseded' },
    }),
    observe: (place, _, found) => revoked(place, found),
  },
  {
    path: /^revoke-with-key$/,
    prepare: twoCertificates,
    least: ({ serial, key }) => ({ serial_number: serial, private_key: key }),
    values: ({ other, otherCertificate, otherKey }) => ({
      serial_number: { value: other, beside: { private_key: otherKey } },
      certificate: { value: otherCertificate },
      private_key: { value: otherKey },
    }),
    observe: (place, _, found) => revoked(place, found),
  },
  {
    path: /^issuer\/\{issuer_ref\}\/revoke$/,
    values: () => ({ reason: { value: 'superseded' } }),
    observe: async ({ call }) => (await call('GET', 'issuer/default')).data.revocation_reason,
  },
  {
    path: /^batch\/certs$/,
    prepare: twoCertificates,
    values: ({ serial }) => ({ serial_numbers: { value: [serial] } }),
  },
  {
    path: /\/resign-crls$/,
    prepare: async (place) => {
      const certificates = await twoCertificates(place);
      const list = async () => (await place.call('GET', 'crl/pem')).bytes.toString();
      const before = await list();
      await place.done('revoke', { serial_number: certificates['serial'] });
      return { before, after: await list() };
    },
    least: ({ before }) => ({ crl_number: 7, crls: [before] }),
    values: ({ after }) => ({
      crl_number: { value: 8 },
      delta_crl_base_number: { value: 5 },
      next_update: { value: '5h' },
      format: { value: 'der' },
      crls: { value: [after] },
    }),
  },
  {
    path: /\/sign-revocation-list$/,
    least: () => ({ crl_number: 7 }),
    values: () => ({
      crl_number: { value: 8 },
      delta_crl_base_number: { value: 5 },
      next_update: { value: '5h' },
      format: { value: 'der' },
    }),
  },
  {
    path: /\/sign-self-issued$/,
    prepare: async () => {
      const { certificate: one = '' } = await authority();
      const { certificate: other = '' } = await authority();
      const mount = aMount({ uuid: '8f0b1c1e-0000-4000-b000-000000000001', path: 'ed25519/' });
      const root = { common_name: 'Ed', key_type: 'ed25519', ttl: '1000h' };
      const { certificate: ofType = '' } = (
        await mounts.post('root/generate/internal', root, mount)
      ).data;
      return { one, other, ofType };
    },
    least: ({ one }) => ({ certificate: one }),
    values: ({ other, ofType }) => ({
      certificate: { value: other },
      require_matching_certificate_algorithms: { value: true, beside: { certificate: ofType } },
    }),
    observe: async (_, __, ___, { data }) => data && new X509Certificate(data.certificate).subject,
  },
  {
    path: /^acme\/mgmt\/account/,
    prepare: async (place) => {
      await place.done('config/acme', { enabled: true });
      await place.client().register();
      const { data } = await place.call('LIST', 'acme/mgmt/account/keyid');
      return { keyid: data.keys[0] };
    },
    at: (path, { keyid = '' }) => path.replace('{keyid}', keyid),
    least: () => ({ status: 'valid' }),
    values: () => ({ status: { value: 'revoked' } }),
    observe: async ({ call }, path) => (await call('GET', path)).data.status,
  },
];

/** A text without ids, serial numbers and keys, which differ with every mount. */
const normalised = (value: unknown): string =>
  (JSON.stringify(value) ?? '')
    .replaceAll(/-----BEGIN ([A-Z ]+)-----[^"]*/g, '$1')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id')
    .replaceAll(/(?:[0-9a-f]{2}:){7,}[0-9a-f]{2}/g, 'serial')
    .replaceAll(/"last_updated":"[^"]*"/g, '');

const queryOf = (body: Body): string =>
  Object.entries(body)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&');

const ask = async (
  way: Way,
  { method, path }: Operation,
  place: Place,
  found: Found,
  body: Body,
): Promise<AskedAlone> => {
  const target = (way.at?.(path, found) ?? path)
    .replace(/\{(?:issuer|key)_ref\}/, 'default')
    .replace('{name}', 'plain');
  const isRead = ['get', 'list', 'delete'].includes(method);
  const verb = method.toUpperCase();
  const query = queryOf(body);
  const answer = isRead
    ? await place.call(verb, query === '' ? target : `${target}?${query}`)
    : await place.call(verb, target, body);
  const seen =
    way.observe === undefined
      ? (crlOf(answer) ?? answer.data)
      : await way.observe(place, target, found, answer);
  // Lists are read in one mount, in which ids and serial numbers do not change.
  const outcome = method === 'list' ? JSON.stringify(seen) : normalised(seen);
  const { status, json } = answer;
  return { status, errors: json?.errors ?? [], warnings: json?.warnings ?? [], outcome };
};

const tryWay = async (way: Way, operation: Operation): Promise<readonly string[]> => {
  const { method, path, names } = operation;
  const findings: string[] = [];
  const prepared = async () => {
    const place = await newPlace();
    const found = (await way.prepare?.(place)) ?? {};
    if (method !== 'list') return { place, found };
    const { data } = await place.call('LIST', path);
    if (data === undefined || data.keys.length < 2) findings.push(`${path} has nothing to list`);
    const soon = new Date(mounts.pki.clock.nowMs() + 90 * 60_000).toISOString();
    return { place, found: { ...found, first: data?.keys[0] as string, soon } };
  };
  // Requests that only read share one mount.
  const shared = method === 'list' || method === 'get' ? await prepared() : undefined;
  const send = async (body: (found: Found) => Body) => {
    const { place, found } = shared ?? (await prepared());
    return ask(way, operation, place, found, { ...way.least?.(found), ...body(found) });
  };
  for (const name of names.filter((one) => !path.includes(`{${one}}`))) {
    const tellingOf = (found: Found) => way.values?.(found, path)[name] ?? ofTable(name, path);
    const plain = await send((found) => tellingOf(found)?.beside ?? {});
    let isKnown = true;
    const sent = await send((found) => {
      const telling = tellingOf(found);
      isKnown = telling !== undefined;
      return { ...telling?.beside, [name]: telling?.value };
    });
    const finding = isKnown ? judgeAlone(name, plain, sent) : 'has no value to try';
    if (finding !== undefined) findings.push(`${method} ${path} ${name}: ${finding}`);
  }
  return findings;
};

test('a parameter sent alone is noticed by every operation that makes no certificate', async () => {
  const findings: string[] = [];
  for (const operation of operations) {
    const way = WAYS.find(
      ({ method = operation.method, path }) =>
        method === operation.method && path.test(operation.path),
    );
    if (way === undefined)
      findings.push(`${operation.method} ${operation.path}: there is no way to try it`);
    else findings.push(...(await tryWay(way, operation)));
  }
  expect(findings).toEqual([]);
}, 300_000);
