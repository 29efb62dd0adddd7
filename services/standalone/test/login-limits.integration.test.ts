/** No login yields more than its role or user and the groups of its entity say, whichever method it is of. */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type KeelsonProcess,
  propertySettings,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { type AddressedCluster, callsOf } from '@keelson/testkit/addressed-cluster';
import { type KubernetesApi, startKubernetesApi } from '@keelson/testkit/kubernetes-api';
import {
  DIRECTORY_BASE,
  DIRECTORY_READER,
  type Directory,
  startDirectory,
} from '@keelson/testkit/ldap-directory';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

const HOUR = 3600;
/** Longest lifetime at each mount. */
const MOUNT_MAX = 2 * HOUR;

let folder: TemporaryDirectory;
let directory: Directory;
let cluster: KubernetesApi;
let keelson: KeelsonProcess;
let root: Pick<AddressedCluster, 'v1'>;

/** Posts a document without a token. */
const post = async (path: string, body: object, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(`${keelson.http}/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
};

interface Method {
  /** Where the settings of the login are written, and the parameters that it needs with them. */
  readonly settingsAt: string;
  readonly with: object;
  /** Policies that the login has for another reason. */
  readonly policies: readonly string[];
  readonly logIn: () => ReturnType<typeof post>;
}

const methods: Readonly<Record<string, () => Promise<Method>>> = {
  approle: () =>
    Promise.resolve({
      settingsAt: 'auth/approle/role/ci',
      with: { role_id: 'the-ci', bind_secret_id: false, secret_id_bound_cidrs: '127.0.0.0/8' },
      policies: [],
      logIn: () => post('auth/approle/login', { role_id: 'the-ci' }),
    }),
  cert: () => {
    const certificate = readFileSync(join(folder.path, 'alice.pem'), 'utf8');
    const header = `:${new X509Certificate(certificate).raw.toString('base64')}:`;
    return Promise.resolve({
      settingsAt: 'auth/cert/certs/ops',
      with: { certificate },
      policies: [],
      logIn: () => post('auth/cert/login', {}, { 'client-cert': header }),
    });
  },
  jwt: async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const iat = Math.floor(Date.now() / 1000);
    const claims = { sub: 'job', iat, exp: iat + HOUR };
    const data = `${encode({ alg: 'EdDSA' })}.${encode(claims)}`;
    const jwt = `${data}.${sign(null, Buffer.from(data), privateKey).toString('base64url')}`;
    const pem = publicKey.export({ type: 'spki', format: 'pem' });
    await root.v1('POST', 'auth/jwt/config', { jwt_validation_pubkeys: pem });
    return {
      settingsAt: 'auth/jwt/role/ci',
      with: { role_type: 'jwt', user_claim: 'sub', bound_subject: 'job' },
      policies: [],
      logIn: () => post('auth/jwt/login', { role: 'ci', jwt }),
    };
  },
  kubernetes: async () => {
    const api = { kubernetes_host: cluster.url, kubernetes_ca_cert: cluster.caPem };
    await root.v1('POST', 'auth/kubernetes/config', { ...api, token_reviewer_jwt: 'reviewer' });
    const jwt = cluster.issue('shop/web', ['keelson']);
    const bound = { bound_service_account_names: 'web', bound_service_account_namespaces: 'shop' };
    return {
      settingsAt: 'auth/kubernetes/role/web',
      with: { ...bound, audience: 'keelson' },
      policies: [],
      logIn: () => post('auth/kubernetes/login', { role: 'web', jwt }),
    };
  },
  ldap: async () => {
    const people = { userdn: `ou=people,${DIRECTORY_BASE}`, userattr: 'uid' };
    const groups = { groupdn: `ou=groups,${DIRECTORY_BASE}` };
    const config = { url: directory.url, ...DIRECTORY_READER, ...people, ...groups };
    await root.v1('POST', 'auth/ldap/config', config);
    await root.v1('POST', 'auth/ldap/groups/web', { policies: 'of-web' });
    await root.v1('POST', 'auth/ldap/groups/other', { policies: 'of-others' });
    return {
      settingsAt: 'auth/ldap/config',
      with: {},
      policies: ['of-web'],
      logIn: () => post('auth/ldap/login/alice', { password: 'password of alice' }),
    };
  },
  userpass: () =>
    Promise.resolve({
      settingsAt: 'auth/userpass/users/ada',
      with: { password: 'pw' },
      policies: [],
      logIn: () => post('auth/userpass/login/ada', { password: 'pw' }),
    }),
};

beforeAll(async () => {
  folder = await temporaryDirectory();
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const files = ['-keyout', 'alice.key', '-out', 'alice.pem', '-subj', '/CN=alice'];
  const leaf = ['-addext', 'basicConstraints=critical,CA:FALSE'];
  execFileSync('openssl', ['req', '-x509', ...key, ...files, ...leaf], {
    cwd: folder.path,
    stdio: 'ignore',
  });
  directory = await startDirectory();
  cluster = await startKubernetesApi();
  cluster.reviewers.add('reviewer');
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: {
      KEELSON_OUTBOUND_RANGES: '127.0.0.1',
      KEELSON_CLIENT_CERTIFICATES_FROM: '127.0.0.1',
    },
  });
  root = callsOf(
    () => keelson.http,
    () => keelson.rootToken,
    keelson.apiToken,
  );
  const config = { default_lease_ttl: '1h', max_lease_ttl: MOUNT_MAX };
  for (const type of Object.keys(methods)) {
    await root.v1('POST', `sys/auth/${type}`, { type, config });
  }
}, 60_000);
afterAll(async () => {
  await keelson.stop();
  await directory.stop();
  await cluster.stop();
  await folder[Symbol.asyncDispose]();
});

const seconds = fc.oneof(fc.constant(0), fc.integer({ min: 60, max: 4 * HOUR }));
const NETWORKS: readonly (readonly string[])[] = [
  [],
  ['127.0.0.1'],
  ['127.0.0.0/8', '10.0.0.0/8'],
  ['10.0.0.1'],
];
const policies: fc.Arbitrary<string[]> = fc.uniqueArray(
  fc.constantFrom('dev', 'ops', 'Admin', 'default'),
);
/** Settings of a role, which may contradict one another. */
const settings = fc.record({
  token_policies: fc.oneof(
    { weight: 9, arbitrary: policies },
    { weight: 1, arbitrary: policies.map((names) => [...names, 'root']) },
  ),
  token_no_default_policy: fc.boolean(),
  token_ttl: seconds,
  token_max_ttl: seconds,
  token_explicit_max_ttl: seconds,
  token_period: seconds,
  token_num_uses: fc.integer({ min: 0, max: 2 }),
  token_type: fc.constantFrom('default', 'default-service', 'default-batch', 'service', 'batch'),
  token_bound_cidrs: fc.constantFrom(...NETWORKS),
});
/** Policies of a group that the entity is in, and of one that it is not in. */
const groups = fc.record({ own: policies, foreign: policies });

const shortest = (...limits: readonly number[]): number =>
  Math.min(...limits.filter((limit) => limit > 0));

test.for(Object.keys(methods))(
  'a token of %s has the policies, lifetimes, uses and networks of its role, the policies of its groups, and nothing more',
  { timeout: 120_000 },
  async (type) => {
    const method = await (methods[type] as () => Promise<Method>)();
    let logins = 0;
    await root.v1('POST', method.settingsAt, method.with);
    const { entity_id: entity } = (await method.logIn()).body.auth;
    const putGroup = (name: string, given: readonly string[], members: readonly string[]) =>
      root.v1('POST', `identity/group/name/${name}-${type}`, {
        policies: given,
        member_entity_ids: members,
      });
    await fc.assert(
      fc.asyncProperty(settings, groups, async (role, { own, foreign }) => {
        await putGroup('own', own, [entity]);
        await putGroup('foreign', foreign, []);
        const written = await root.v1('POST', method.settingsAt, { ...method.with, ...role });
        if (written.status >= 300) return;
        const { status, body } = await method.logIn();
        // Nobody is in the last of the networks.
        expect(status === 200 && role.token_bound_cidrs.includes('10.0.0.1')).toBe(false);
        if (status !== 200) return;
        logins += 1;
        const { data } = (
          await root.v1('POST', 'auth/token/lookup', { token: body.auth.client_token })
        ).body;
        const names = role.token_policies.map((name) => name.toLowerCase());
        const fallback = role.token_no_default_policy ? [] : ['default'];
        const expected = [...new Set([...names, ...method.policies, ...fallback])].toSorted();
        const isBatch = ['batch', 'default-batch'].includes(role.token_type);
        const max = shortest(role.token_max_ttl, MOUNT_MAX);
        expect(data).toMatchObject({
          policies: expected,
          type: isBatch ? 'batch' : 'service',
          num_uses: role.token_num_uses,
          explicit_max_ttl: role.token_explicit_max_ttl,
        });
        expect(expected).not.toContain('root');
        const ofGroups = [...new Set(own.map((name) => name.toLowerCase()))].toSorted();
        expect([data.entity_id, data.identity_policies ?? []]).toEqual([entity, ofGroups]);
        expect(data.bound_cidrs ?? []).toHaveLength(role.token_bound_cidrs.length);
        const ofRole = role.token_period || shortest(role.token_ttl, max);
        expect(data.creation_ttl).toBeLessThanOrEqual(
          shortest(role.token_explicit_max_ttl, ofRole),
        );
      }),
      propertySettings({ numRuns: 100 }),
    );
    expect(logins).toBeGreaterThan(10);
  },
);
