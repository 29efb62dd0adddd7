/**
 * Every declared parameter of every operation that makes a certificate or a request, sent alone with a
 * telling value: the result differs, the request is refused, or a warning names the parameter. A parameter
 * that limits is never answered with a warning alone.
 */
import { isDeepStrictEqual } from 'node:util';
import { limitsByName } from '@keelson/testkit/parameters-alone';
import { decodePem, EXTENSION, type Extension, parseCertificate, parseCsr } from '@keelson/x509';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FIELD_GROUPS } from './accepted-fields-table.ts';
import type { Effect } from './field-effects.ts';
import { leafRole, type Mounts, newRequest, openMounts } from './open-mounts.ts';
import { type Answer, aMount } from './open-pki.ts';
import { openReferenceService, openTrust } from './policy-neighbours.ts';

let mounts: Mounts;
let policyService: Awaited<ReturnType<typeof openReferenceService>>;
let csr: string;
let otherCsr: string;
let anotherCsr: string;
/** The names of the parameters of each body. */
let bodies: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  mounts = await openMounts();
  const { pki, post } = mounts;
  csr = newRequest(mounts, '/CN=csr.example.com', [
    'subjectAltName=DNS:csr.example.com',
    'keyUsage=keyEncipherment',
    'nameConstraints=critical,permitted;DNS:of-the-csr.example',
  ]);
  otherCsr = newRequest(mounts, '/CN=other.example.com');
  anotherCsr = newRequest(mounts, '/CN=another.example.com');
  await mounts.root('Root', pki.mount, { key_type: 'rsa', ttl: '1000h', issuer_name: 'first' });
  const role = {
    ...leafRole,
    key_type: 'any',
    ttl: '1h',
    allowed_uri_sans: '*',
    allowed_other_sans: '*',
    allowed_serial_numbers: '*',
    allowed_user_ids: '*',
  };
  await post('roles/by-csr', role);
  await post('roles/by-body', { ...role, use_csr_common_name: false, use_csr_sans: false });
  await openPolicies();
  const { pathsJson } = await pki.service.edge.describe();
  const paths = JSON.parse(pathsJson) as Record<string, { readonly post?: Described }>;
  bodies = new Map(
    Object.entries(paths).flatMap(([path, { post: described }]) => {
      const [content] = Object.values(described?.requestBody?.content ?? {});
      const names = Object.keys(content?.schema.properties ?? {});
      return names.length === 0 ? [] : [[path.slice(1), names] as const];
    }),
  );
}, 60_000);
afterAll(async () => {
  await policyService.close();
  await mounts.close();
});

/** Two policies for the same names, of which one is the default. */
const openPolicies = async (): Promise<void> => {
  const trust = await openTrust(mounts);
  const web = {
    modes: ['issue', 'sign', 'ica'],
    allowed_names: ['*.example.com'],
    ttl_seconds: 3600,
    max_ttl_seconds: 7200,
    store_certificate: true,
  };
  const policies = { web, brief: { ...web, ttl_seconds: 1800 } };
  const rules = { default_policy: 'web', policies };
  policyService = await openReferenceService(trust, rules, () => mounts.pki.clock.nowMs());
  await mounts.post('config/external-policy', {
    enabled: true,
    external_service_url: policyService.url,
    trusted_ca: trust.ca,
    vault_client_cert_bundle: `${trust.client.key}\n${trust.client.certificate}`,
  });
};

interface Described {
  readonly requestBody?: {
    readonly content: Readonly<
      Record<
        string,
        { readonly schema: { readonly properties: Readonly<Record<string, unknown>> } }
      >
    >;
  };
}

/** One way to call an operation: the same parameter may act in one and be left out in another. */
interface Way {
  readonly path: RegExp;
  readonly at: (path: string) => string;
  readonly least: () => object;
}

const NAMED = { common_name: 'a.example.com' };
const inRole = (role: string) => (path: string) => path.replace('{name}', role);
const underPolicy = (path: string) => path.replace('{policy}', 'web');

/** The operations with the state that their parameters meet. */
const WAYS: readonly Way[] = [
  {
    path: /(?:^|\/)issue\/\{name\}$/,
    at: inRole('by-csr'),
    least: () => ({ ...NAMED, key_type: 'ec' }),
  },
  { path: /(?:^|\/)sign\/\{name\}$/, at: inRole('by-csr'), least: () => ({ csr }) },
  { path: /(?:^|\/)sign\/\{name\}$/, at: inRole('by-body'), least: () => ({ ...NAMED, csr }) },
  {
    path: /(?:^|\/)sign-verbatim(?:\/\{name\})?$/,
    at: inRole('by-csr'),
    // Nothing that the parameters decide by default only.
    least: () => ({ csr: otherCsr }),
  },
  { path: /(?:root|_ref\})\/sign-intermediate$/, at: inRole(''), least: () => ({ ...NAMED, csr }) },
  {
    path: /(?:root|_ref\})\/sign-intermediate$/,
    at: inRole(''),
    least: () => ({ csr, use_csr_values: true }),
  },
  {
    path: /(?:root\/generate|generate\/root|root\/rotate)\/\{type\}$/,
    at: (path) => path.replace('{type}', 'exported'),
    least: () => ({ ...NAMED, key_type: 'ec' }),
  },
  {
    path: /(?:intermediate\/generate|generate\/intermediate)\/\{type\}$/,
    at: (path) => path.replace('{type}', 'exported'),
    least: () => ({ ...NAMED, key_type: 'ec' }),
  },
  {
    path: /(?:root\/generate|intermediate\/generate)\/\{type\}$/,
    at: (path) => path.replace('{type}', 'internal'),
    least: () => ({ ...NAMED, key_type: 'ec' }),
  },
  {
    path: /intermediate\/generate\/\{type\}$/,
    at: (path) => path.replace('{type}', 'existing'),
    least: () => NAMED,
  },
  { path: /^intermediate\/cross-sign$/, at: inRole(''), least: () => NAMED },
  {
    path: /external-policy\/issue(?:\/\{policy\})?$/,
    at: underPolicy,
    least: () => ({ ...NAMED, key_type: 'ec' }),
  },
  {
    path: /external-policy\/sign(?:-intermediate)?(?:\/\{policy\})?$/,
    at: underPolicy,
    least: () => ({ csr: otherCsr }),
  },
];

/** A value that must be noticed, and the other parameters that it needs. */
interface Telling {
  readonly value: unknown;
  readonly beside?: object;
}

const RSA = { key_type: 'rsa', key_bits: 2048 };

/** Values of parameters for which the table of accepted fields has none. */
const tellingOf = (name: string, path: string, least: object): Telling | undefined => {
  const at = (hours: number) =>
    new Date(mounts.pki.clock.nowMs() + hours * 3_600_000).toISOString();
  // Only RSA keys have the choice; others are made of the type that the way gives them.
  const makesKey = Object.hasOwn(least, 'key_type');
  const values: Readonly<Record<string, Telling>> = {
    csr: { value: anotherCsr },
    name: { value: 'by-body' },
    policy: { value: 'brief' },
    type: { value: 'another' },
    issuer_ref: { value: 'another' },
    not_after: { value: at(7) },
    not_before: { value: new Date(mounts.pki.clock.nowMs() - 5000).toISOString() },
    not_before_duration: { value: 10 },
    format: { value: 'der' },
    private_key_format: { value: 'pkcs8' },
    password: { value: 'a password' },
    friendly_name: { value: 'friend' },
    legacy: { value: true },
    remove_roots_from_chain: { value: true },
    metadata: { value: 'bWV0YQ==' },
    cert_metadata: { value: 'bWV0YQ==' },
    use_csr_values: { value: true },
    enforce_leaf_not_after_behavior: { value: true, beside: { ttl: '2000h' } },
    key_ref: { value: 'nothing' },
    key_name: { value: `key-${path.replaceAll(/\W/g, '-')}` },
    issuer_name: { value: `issuer-${path.replaceAll(/\W/g, '-')}` },
    key_type: { value: 'ed25519' },
    key_bits: { value: 384 },
    signature_bits: { value: 512, ...(makesKey && { beside: RSA }) },
    use_pss: { value: true, ...(makesKey && { beside: RSA }) },
    ext_key_usage: { value: 'TimeStamping' },
    key_usage: { value: 'DigitalSignature' },
  };
  return values[name];
};

/** The value that the table of accepted fields tries. */
const ofTable = (name: string, path: string): Telling | undefined => {
  const effect: Effect | undefined = Object.values(FIELD_GROUPS).find(({ paths }) =>
    paths.includes(path),
  )?.fields[name];
  return effect !== undefined && 'value' in effect ? { value: effect.value } : undefined;
};

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** SHA-256, SHA-384 and SHA-512 with PKCS #1, and PSS; DER. */
const RSA_SCHEMES = ['0b', '0c', '0d', '0a'].map((last) => `2a864886f70d0101${last}`);

/** The contents of a certificate or a request, except for those that differ each time. */
const contentsOf = (der: Uint8Array, isRequest: boolean, hasNewKey: boolean): unknown => {
  const nowMs = mounts.pki.clock.nowMs();
  const described = ({ oid, critical, value }: Extension) =>
    hasNewKey && oid === EXTENSION.subjectKeyIdentifier
      ? oid
      : `${oid} ${critical} ${hexOf(value)}`;
  if (isRequest) {
    const { subject, extensions, keyAlgorithm } = parseCsr(der);
    const text = hexOf(der);
    const schemes = RSA_SCHEMES.filter((oid) => text.includes(oid));
    return [hexOf(subject), keyAlgorithm, schemes, extensions.map(described)];
  }
  const made = parseCertificate(der);
  const isOwnIssuer = hexOf(made.subject) === hexOf(made.issuer);
  return [
    hexOf(made.subject),
    made.publicKeyDer.length,
    hasNewKey || hexOf(made.publicKeyDer),
    hexOf(made.signatureAlgorithm),
    [made.notBeforeMs - nowMs, made.notAfterMs - nowMs],
    made.extensions
      .filter(({ oid }) => !(isOwnIssuer && oid === EXTENSION.authorityKeyIdentifier))
      .map(described),
  ];
};

/** A text of an answer as its form, or with its contents where it is PEM. */
const shapeOf = (text: string, hasNewKey: boolean): unknown => {
  if (!text.includes('-----BEGIN')) return /^[\w+/]{64,}=*$/.test(text) ? 'base64' : text;
  return decodePem(text).map(({ label, der }) =>
    label === 'CERTIFICATE' || label === 'CERTIFICATE REQUEST'
      ? [label, contentsOf(der, label !== 'CERTIFICATE', hasNewKey)]
      : [label],
  );
};

/** Members that differ with every request. */
const OF_EACH = ['serial_number', 'issuer_id', 'key_id', 'expiration', 'mapping'];

/** The body, and the metadata that is stored with the certificate. */
const outcomeOf = async (answer: Answer, hasNewKey: boolean): Promise<string> => {
  const { data = {} } = answer;
  const { serial_number: serial } = data;
  const metadata =
    serial === undefined
      ? undefined
      : (await mounts.pki.call('GET', `cert-metadata/${serial}`)).data;
  const members = Object.entries(data as Record<string, unknown>)
    .filter(([name]) => !OF_EACH.includes(name))
    .map(([name, value]) => [
      name,
      (Array.isArray(value) ? value : [value]).map((text: unknown) =>
        typeof text === 'string' ? shapeOf(text, hasNewKey) : text,
      ),
    ]);
  return JSON.stringify([members, metadata?.cert_metadata]);
};

interface Finding {
  readonly path: string;
  readonly name: string;
  readonly finding: string;
}

/** Whether all requests of a way have the value already. */
const alwaysHas = (least: object, name: string, path: string): boolean =>
  Object.hasOwn(least, name) &&
  isDeepStrictEqual((least as Record<string, unknown>)[name], tellingOf(name, path, least)?.value);

interface Tried {
  readonly answer: Answer;
  readonly outcome: string;
}

const tryAlone = async (
  path: string,
  name: string,
  least: object,
  send: (body: object) => Promise<Tried>,
): Promise<Finding | undefined> => {
  const found = (finding: string): Finding => ({ path, name, finding });
  const telling = tellingOf(name, path, least) ?? ofTable(name, path);
  if (telling === undefined) return found('has no value to try');
  const plain = await send(telling.beside ?? {});
  if (plain.answer.status !== 200)
    return found(`cannot be tried: ${plain.answer.json.errors?.[0]}`);
  const sent = await send({ ...telling.beside, [name]: telling.value });
  const { status, json } = sent.answer;
  if (status === 400 || status === 404) return undefined;
  if (status !== 200) return found(`is answered with ${status}`);
  if (sent.outcome !== plain.outcome) return undefined;
  const before = new Set(plain.answer.json.warnings);
  const isNamed = (json.warnings ?? []).some(
    (text: string) => !before.has(text) && new RegExp(`\\b${name}\\b`).test(text),
  );
  if (!isNamed) return found('changes nothing, without a warning');
  return limitsByName(name) ? found('limits, and is only warned of') : undefined;
};

const makesRoots = (path: string): boolean => path.includes('root') && path.includes('{type}');

let serial = 0;
const emptyMount = () => {
  serial += 1;
  const uuid = `8f0b1c1e-0000-4000-9000-${String(serial).padStart(12, '0')}`;
  return aMount({ uuid, path: `empty-${serial}/` });
};

/** Parameters of a path that the path replaces, which a warning says in other words. */
const isOfPath = (path: string, name: string): boolean => path.includes(`{${name}}`);

/** Tries all parameters of a path in one of its ways. */
const tryPath = async (way: Way, path: string, names: readonly string[]): Promise<Finding[]> => {
  const hasNewKey = /issue\/|generate|rotate/.test(path);
  const target = way.at(path).replace('{issuer_ref}', 'default');
  const least = way.least();
  const answers = new Map<string, Promise<Tried>>();
  const ask = async (body: object): Promise<Tried> => {
    // Each root is an issuer: a mount of its own keeps lists and chains short.
    const mount = makesRoots(path) ? emptyMount() : mounts.pki.mount;
    const answer = await mounts.pki.call('POST', target, { ...least, ...body }, { mount });
    return { answer, outcome: answer.status === 200 ? await outcomeOf(answer, hasNewKey) : '' };
  };
  const send = (body: object): Promise<Tried> => {
    const key = JSON.stringify(body);
    const asked = answers.get(key) ?? ask(body);
    answers.set(key, asked);
    return asked;
  };
  const found = await Promise.all(
    names
      .filter((name) => !isOfPath(path, name) && !alwaysHas(least, name, path))
      .map((name) => tryAlone(path, name, least, send)),
  );
  return found.flatMap((finding) => finding ?? []);
};

describe('a parameter sent alone', () => {
  test('is noticed by every operation that makes a certificate or a request', async () => {
    const findings: Finding[] = [];
    const tried = new Set<string>();
    for (const way of WAYS)
      for (const [path, names] of bodies) {
        if (!way.path.test(path)) continue;
        tried.add(path);
        findings.push(...(await tryPath(way, path, names)));
      }
    expect(findings).toEqual([]);
    const makers = [...bodies.keys()].filter(
      (path) =>
        /(?:^|\/)(?:issue|sign|sign-verbatim|sign-intermediate|cross-sign|generate|rotate)(?:\/|$)/.test(
          path,
        ) && !path.startsWith('keys/'),
    );
    expect(makers.filter((path) => !tried.has(path))).toEqual([]);
  }, 120_000);
});

test('no limit in the table of accepted fields is only warned of', () => {
  const warned = Object.entries(FIELD_GROUPS).flatMap(([group, { fields }]) =>
    Object.entries(fields).flatMap(([name, { kind }]) =>
      kind === 'warned' && limitsByName(name) ? [`${group} ${name}`] : [],
    ),
  );
  expect(warned).toEqual([]);
});
