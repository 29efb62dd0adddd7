/**
 * Every way to revoke × every kind of certificate × what happened to it before, at the public interface. What is
 * expected is written out here, because the test must not read the table that it checks.
 */
import { randomBytes } from 'node:crypto';
import { encodePem, findReason, parseCertificate, parseCrl, reasonName } from '@keelson/x509';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AccountKey, AcmeClient, csrFor, newAccountKey } from './acme-client.ts';
import { type OpenAcme, openAcme } from './open-acme.ts';

let acme: OpenAcme;
/** An account with a valid authorization for the name that all certificates have. */
let holder: AcmeClient;
let stranger: AcmeClient;

const NAME = 'localhost';

beforeAll(async () => {
  acme = await openAcme();
  await acme.post('roles/any', { allow_any_name: true, key_type: 'any', ttl: '24h' });
  await acme.post('config/est', { enabled: true, default_path_policy: 'role:any' });
  holder = acme.client();
  await acme.obtain(holder, NAME);
  stranger = acme.client();
  await stranger.register();
}, 60_000);
afterAll(() => acme.close());

interface Made {
  readonly key: AccountKey;
  readonly der: Buffer;
  readonly serial: string;
  /** The account that ordered it. */
  readonly orderer: AcmeClient | undefined;
}

const made = (key: AccountKey, der: Buffer, orderer?: AcmeClient): Made => {
  const { serialNumber } = parseCertificate(der);
  const hex = Buffer.from(serialNumber).toString('hex');
  return { key, der, serial: hex.replaceAll(/(..)(?=.)/g, '$1:'), orderer };
};

const derIn = (pem: string): Buffer =>
  Buffer.from(/CERTIFICATE-----([^-]*)-/.exec(pem)?.[1] ?? '', 'base64');

const requestFor = (key: AccountKey): Promise<string> =>
  csrFor([NAME], { key: { ...key, publicKey: key.privateKey }, commonName: NAME });

const requestPem = async (key: AccountKey): Promise<string> =>
  encodePem('CERTIFICATE REQUEST', Buffer.from(await requestFor(key), 'base64url'));

const privateKeyPem = ({ privateKey }: AccountKey): string =>
  privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const signed = async (path: string): Promise<Made> => {
  const key = newAccountKey();
  const body = { csr: await requestPem(key), common_name: NAME };
  return made(key, derIn((await acme.post(path, body)).data.certificate));
};

const KINDS = {
  'leaf by token': () => signed('sign/any'),
  'leaf by EST': async () => {
    const key = newAccountKey();
    const body = Buffer.from(Buffer.from(await requestFor(key), 'base64url').toString('base64'));
    const options = { contentType: 'application/pkcs10' };
    const { bytes } = await acme.pki.call('POST', 'est/simpleenroll', body, options);
    const certsOnly = Buffer.from(bytes.toString(), 'base64');
    const { keys } = (await acme.pki.call('LIST', 'certs')).data;
    for (const serial of keys) {
      const { certificate } = (await acme.pki.call('GET', `cert/${serial}`)).data;
      const der = derIn(certificate);
      if (certsOnly.includes(der)) return made(key, der);
    }
    throw new Error('the enrolled certificate is not stored');
  },
  'leaf by ACME': async () => {
    const client = acme.client();
    await client.register();
    const order = await client.order(NAME);
    await acme.prove(client, order);
    await acme.settle(client, order.header('location') ?? '', ['pending']);
    const key = newAccountKey();
    const { json } = await client.post(order.json.finalize, { csr: await requestFor(key) });
    const { bytes } = await client.post(json.certificate);
    return made(key, derIn(bytes.toString()), client);
  },
  'CA elsewhere': () => signed('root/sign-intermediate'),
  'issuer of the mount': async () => {
    const one = await signed('root/sign-intermediate');
    const pem_bundle = `${encodePem('CERTIFICATE', one.der)}\n${privateKeyPem(one.key)}`;
    await acme.post('issuers/import/bundle', { pem_bundle });
    return one;
  },
} as const;
type Kind = keyof typeof KINDS;
const ALL_KINDS = Object.keys(KINDS) as readonly Kind[];

const issuerIdOf = async ({ serial }: Made): Promise<string> => {
  const info: Record<string, { serial_number: string }> = (await acme.pki.call('LIST', 'issuers'))
    .data.key_info;
  return Object.entries(info).find(([, one]) => one.serial_number === serial)?.[0] ?? serial;
};

interface Attempt {
  readonly status: number;
  /** Type of an ACME problem. */
  readonly problem?: string | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- documents are asserted on, not typed
  readonly data?: any;
  readonly warnings?: readonly string[] | null;
}

const byToken = async (path: string, body: object): Promise<Attempt> => {
  const { status, json } = await acme.pki.call('POST', path, body);
  return { status, data: json.data, warnings: json.warnings };
};

const byAcme = async (client: AcmeClient, { der }: Made, reason?: unknown): Promise<Attempt> => {
  const { status, json } = await client.post('revoke-cert', {
    certificate: der.toString('base64url'),
    ...(reason !== undefined && { reason }),
  });
  return { status, problem: json?.type?.replace('urn:ietf:params:acme:error:', '') };
};

/** The name of a reason for `/v1`. */
const named = (reason: number | undefined) =>
  reason === undefined ? {} : { reason: reasonName(reason as 0) };

const DOORS = {
  revoke: (one: Made, reason?: number) =>
    byToken('revoke', { serial_number: one.serial, ...named(reason) }),
  'issuer/:issuer_ref/revoke': async (one: Made, reason?: number) =>
    byToken(`issuer/${await issuerIdOf(one)}/revoke`, named(reason)),
  'revoke-with-key': (one: Made) =>
    byToken('revoke-with-key', {
      serial_number: one.serial,
      private_key: privateKeyPem(one.key),
    }),
  'the account that ordered it': (one: Made, reason?: number) =>
    byAcme(one.orderer ?? holder, one, reason),
  'an account that holds its names': (one: Made, reason?: number) => byAcme(holder, one, reason),
  'another account': (one: Made, reason?: number) => byAcme(stranger, one, reason),
  'the key by ACME': (one: Made, reason?: number) =>
    byAcme(new AcmeClient(acme.pki, 'acme/', one.key), one, reason),
} as const;
type Door = keyof typeof DOORS;
const ALL_DOORS = Object.keys(DOORS) as readonly Door[];

/** The recorded reason on the CRL, "good" where it is not listed. */
const listed = async ({ serial }: Made): Promise<string> => {
  const { entries } = parseCrl((await acme.pki.call('GET', 'crl')).bytes);
  const hex = serial.replaceAll(':', '');
  const entry = entries.find(
    ({ serialNumber }) => Buffer.from(serialNumber).toString('hex') === hex,
  );
  return entry === undefined ? 'good' : reasonName(findReason(entry.extensions ?? []));
};

const isBanned = async ({ key }: Made): Promise<boolean> => {
  const { json } = await acme.pki.call('LIST', 'keys/compromised');
  const banned = json.data?.keys?.includes(key.thumbprint) === true;
  const sign = await acme.pki.call('POST', 'sign/any', { csr: await requestPem(key) });
  // Every key that is listed is refused, and no other.
  expect(sign.status).toBe(banned ? 400 : 200);
  return banned;
};

const WARNING = /its reason stays|already expired/;

/** The result of an attempt: the status or problem, the reason on the CRL, "banned" and "warned". */
const outcome = async (one: Made, { status, problem, warnings }: Attempt): Promise<string> =>
  [
    problem ?? status,
    await listed(one),
    ...((await isBanned(one)) ? ['banned'] : []),
    ...(warnings?.some((warning) => WARNING.test(warning)) ? ['warned'] : []),
  ].join(' ');

const REVOKED = '200 unspecified';
const COMPROMISED = '200 keyCompromise banned';
const BAD = '400 good';
const NONE = '404 good';
const FORBIDDEN = 'unauthorized good';

/** In the order of the kinds. */
const FIRST: Readonly<Record<Door, readonly string[]>> = {
  revoke: [REVOKED, REVOKED, REVOKED, REVOKED, BAD],
  'issuer/:issuer_ref/revoke': [NONE, NONE, NONE, NONE, REVOKED],
  'revoke-with-key': [COMPROMISED, COMPROMISED, COMPROMISED, COMPROMISED, BAD],
  'the account that ordered it': [FORBIDDEN, FORBIDDEN, REVOKED, FORBIDDEN, FORBIDDEN],
  'an account that holds its names': [FORBIDDEN, FORBIDDEN, REVOKED, FORBIDDEN, FORBIDDEN],
  'another account': [FORBIDDEN, FORBIDDEN, FORBIDDEN, FORBIDDEN, FORBIDDEN],
  'the key by ACME': [COMPROMISED, COMPROMISED, COMPROMISED, COMPROMISED, FORBIDDEN],
};

describe('who may revoke what', () => {
  test.for(ALL_DOORS)('%s', async (door) => {
    const seen: string[] = [];
    for (const kind of ALL_KINDS) {
      const one = await KINDS[kind]();
      seen.push(await outcome(one, await DOORS[door](one)));
    }
    expect(seen).toEqual(FIRST[door]);
  });
});

/** A kind for each door that leads to it. */
const KIND_BEHIND: readonly (readonly [Door, Kind])[] = [
  ['revoke', 'leaf by token'],
  ['revoke', 'CA elsewhere'],
  ['issuer/:issuer_ref/revoke', 'issuer of the mount'],
  ['revoke-with-key', 'leaf by EST'],
  ['the account that ordered it', 'leaf by ACME'],
  ['an account that holds its names', 'leaf by ACME'],
  ['the key by ACME', 'leaf by token'],
];

const BY_OPERATOR = [
  '200 unspecified',
  '200 keyCompromise banned',
  '200 cACompromise',
  '200 affiliationChanged',
  '200 superseded',
  '200 cessationOfOperation',
  BAD,
  BAD,
  BAD,
  '200 privilegeWithdrawn',
  BAD,
];
/** For a CA, the compromise of a CA is that of its key. */
const OF_CA = BY_OPERATOR.with(2, '200 cACompromise banned');
const BAD_REASON = 'badRevocationReason good';
const BY_ORDERER = BY_OPERATOR.with(2, BAD_REASON).map((one, reason) =>
  reason > 5 ? BAD_REASON : one,
);
const REASONS: readonly (readonly string[])[] = [
  BY_OPERATOR,
  OF_CA,
  OF_CA,
  Array.from({ length: 11 }, () => COMPROMISED),
  BY_ORDERER,
  BY_ORDERER.with(1, BAD_REASON),
  BY_ORDERER.map((one) => (one === BAD_REASON ? one : COMPROMISED)),
];

describe('with which reason, 0 to 10', () => {
  test.for(KIND_BEHIND.map((behind, index) => [...behind, REASONS[index]] as const))(
    '%s: %s',
    async ([door, kind, expected]) => {
      const seen: string[] = [];
      let one = await KINDS[kind]();
      for (let reason = 0; reason <= 10; reason++) {
        const result = await outcome(one, await DOORS[door](one, reason));
        seen.push(result);
        if (!result.endsWith('good')) one = await KINDS[kind]();
      }
      expect(seen).toEqual(expected);
    },
  );
});

/** Revokes by the operator, who may revoke everything. */
const revokeBefore = (kind: Kind, one: Made, reason: number): Promise<Attempt> =>
  DOORS[kind === 'issuer of the mount' ? 'issuer/:issuer_ref/revoke' : 'revoke'](one, reason);

const KEPT = '200 superseded';
const REFUSED = 'alreadyRevoked superseded';
/** First without a reason, then with keyCompromise, in the order of `KIND_BEHIND`. */
const AFTER_SUPERSEDED = [
  [KEPT, COMPROMISED],
  [KEPT, COMPROMISED],
  [KEPT, COMPROMISED],
  [COMPROMISED, COMPROMISED],
  [REFUSED, COMPROMISED],
  [REFUSED, 'badRevocationReason superseded'],
  [COMPROMISED, 'alreadyRevoked keyCompromise banned'],
] as const;
/** With superseded. */
const AFTER_COMPROMISE = [
  `${COMPROMISED} warned`,
  `${COMPROMISED} warned`,
  `${COMPROMISED} warned`,
  COMPROMISED,
  'alreadyRevoked keyCompromise banned',
  'alreadyRevoked keyCompromise banned',
  'alreadyRevoked keyCompromise banned',
] as const;

describe('what was revoked before', () => {
  test.for(KIND_BEHIND.map((behind, index) => [...behind, AFTER_SUPERSEDED[index]] as const))(
    'as superseded keeps its time, and its reason but for a compromise: %s, %s',
    async ([door, kind, expected]) => {
      const one = await KINDS[kind]();
      const first = await revokeBefore(kind, one, 4);
      acme.pki.clock.advance(5_000);
      const seen = [await outcome(one, await DOORS[door](one))];
      const replaced = await DOORS[door](one, 1);
      expect([...seen, await outcome(one, replaced)]).toEqual(expected);
      const { data } = replaced;
      expect(data?.revocation_time).toBe(data && first.data.revocation_time);
    },
  );

  test.for(KIND_BEHIND.map((behind, index) => [...behind, AFTER_COMPROMISE[index]] as const))(
    'as compromised stays so: %s, %s',
    async ([door, kind, expected]) => {
      const one = await KINDS[kind]();
      await revokeBefore(kind, one, 1);
      expect(await outcome(one, await DOORS[door](one, 4))).toBe(expected);
    },
  );
});

describe('by whom a certificate was revoked', () => {
  const TOKEN = { type: 'token', display_name: 'token', metadata: {}, request_id: 'request-1' };
  const account = ({ account: url }: AcmeClient) => ({
    type: 'acme_account',
    account_id: url.slice(url.lastIndexOf('/') + 1),
  });
  const REVOKERS: readonly ((one: Made) => object)[] = [
    () => TOKEN,
    () => TOKEN,
    () => TOKEN,
    () => TOKEN,
    ({ orderer }) => account(orderer as AcmeClient),
    () => account(holder),
    () => ({ type: 'certificate_key' }),
  ];
  test.for(KIND_BEHIND.map((behind, index) => [...behind, REVOKERS[index]] as const))(
    'is recorded, and shown where a policy allows it: %s, %s',
    async ([door, kind, revokerOf]) => {
      const one = await KINDS[kind]();
      await DOORS[door](one);
      const { data } = await acme.pki.call('GET', `certs/revoked/${one.serial}`);
      expect(data).toMatchObject({ serial_number: one.serial, revoked_by: revokerOf?.(one) });
      expect(data.compromise_reported_by).toBeUndefined();
      const issuer = await acme.pki.call('GET', `issuer/${await issuerIdOf(one)}`);
      expect(issuer.data?.revoked_by).toEqual(kind === 'issuer of the mount' ? TOKEN : undefined);
      // These paths need no token.
      for (const path of [`cert/${one.serial}`, `issuer/${await issuerIdOf(one)}/json`]) {
        const { bytes } = await acme.pki.call('GET', path);
        expect(bytes.toString()).not.toMatch(/revoked_by|acme_account|display_name/);
      }
    },
  );

  test('stays, with whoever reported a compromise later', async () => {
    const one = await KINDS['leaf by ACME']();
    const path = `certs/revoked/${one.serial}`;
    expect((await acme.pki.call('GET', path)).status).toBe(404);
    await DOORS['an account that holds its names'](one, 4);
    await DOORS['revoke'](one, 1);
    expect((await acme.pki.call('GET', path)).data).toMatchObject({
      revocation_reason: 'keyCompromise',
      revoked_by: account(holder),
      compromise_reported_by: TOKEN,
    });
  });
});

test('of requests at once, one revokes and the others are told so', async () => {
  const one = await KINDS['leaf by ACME']();
  const attempts = await Promise.all(
    Array.from({ length: 8 }, () => DOORS['the account that ordered it'](one)),
  );
  const answers = attempts.map(({ status, problem }) => problem ?? status);
  expect(answers.filter((answer) => answer === 200)).toEqual([200]);
  expect(answers.filter((answer) => answer === 'alreadyRevoked')).toHaveLength(7);
});

test('the ban of a key is shown with its certificate, and an operator can lift it', async () => {
  const one = await KINDS['leaf by token']();
  await DOORS['revoke-with-key'](one);
  const { data } = await acme.pki.call('LIST', 'keys/compromised');
  expect(data.key_info[one.key.thumbprint]).toEqual({
    serial_number: one.serial,
    banned_time: Math.floor(acme.pki.clock.nowMs() / 1000),
    banned_time_rfc3339: expect.stringMatching(/Z$/),
  });
  const page = await acme.pki.call('LIST', 'keys/compromised?limit=1');
  expect(page.data.keys).toEqual(data.keys.slice(0, 1));
  const lift = () => acme.pki.call('DELETE', `keys/compromised/${one.key.thumbprint}`);
  expect((await lift()).status).toBe(204);
  expect(await isBanned(one)).toBe(false);
  expect(await listed(one)).toBe('keyCompromise');
  expect((await lift()).status).toBe(404);
});

test('a banned key is refused by every import, root, request and signature', async () => {
  const key = newAccountKey();
  const name = `k${randomBytes(4).toString('hex')}`;
  const pem_bundle = privateKeyPem(key);
  await acme.post('keys/import', { pem_bundle, key_name: name });
  const csr = await requestPem(key);
  const leaf = (await acme.post('sign/any', { csr })).data;
  const ca = (await acme.post('root/sign-intermediate', { csr, common_name: NAME })).data;
  const root = (await acme.post('root/generate/existing', { common_name: 'Other', key_ref: name }))
    .data;
  await acme.post('revoke', { serial_number: leaf.serial_number, reason: 'keyCompromise' });
  const refused = async (path: string, body: object) => {
    const { status, json } = await acme.pki.call('POST', path, body);
    expect([path, status, json.errors]).toEqual([
      path,
      400,
      ['the key is that of a certificate that was revoked because it is compromised'],
    ]);
  };
  for (const path of ['sign/any', 'sign-verbatim', 'root/sign-intermediate'])
    await refused(path, { csr, common_name: NAME });
  await refused('root/sign-self-issued', { certificate: root.certificate });
  for (const path of ['root/generate/existing', 'root/rotate/existing'])
    await refused(path, { common_name: 'Again', key_ref: name });
  for (const path of ['intermediate/generate/existing', 'intermediate/cross-sign'])
    await refused(path, { common_name: 'Again', key_ref: name });
  for (const path of ['issuers/import/cert', 'intermediate/set-signed', 'config/ca'])
    await refused(path, { certificate: ca.certificate });
  // The mount already has these, so nothing is imported.
  await acme.post('keys/import', { pem_bundle });
  await acme.post('issuers/import/cert', { pem_bundle: root.certificate });
  await acme.pki.call('DELETE', `issuer/${root.issuer_id}`);
  await acme.pki.call('DELETE', `key/${name}`);
  await refused('keys/import', { pem_bundle });
  await refused('issuers/import/bundle', { pem_bundle: `${root.certificate}\n${pem_bundle}` });
});

/** Last, because it moves the clock. */
test('what has expired is not revoked, whatever the reason', async () => {
  const all: (readonly [Door, Made])[] = [];
  for (const [door, kind] of KIND_BEHIND)
    if (kind !== 'issuer of the mount') all.push([door, await KINDS[kind]()]);
  const seen: string[] = [];
  acme.pki.clock.advance(100 * 24 * 3600 * 1000);
  await acme.obtain(holder, NAME);
  await acme.pki.call('GET', 'crl/rotate');
  for (const [door, one] of all) seen.push(await outcome(one, await DOORS[door](one, 1)));
  const [warned, told] = ['200 good warned', 'malformed good'];
  expect(seen).toEqual([warned, warned, warned, told, 'badRevocationReason good', told]);
});
