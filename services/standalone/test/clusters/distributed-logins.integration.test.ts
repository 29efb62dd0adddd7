/** Logins where auth and sys are processes of their own with replicas: roles are of auth, the tokens they make of sys. */
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { type PostgresServer, type RedisServer, startPostgres, startRedis } from '@keelson/testkit';
import { type DistributedCluster, startDistributed } from '@keelson/testkit/distributed-cluster';
import { type Answer, callsOf, until } from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 300_000;
const ROLE = 'auth/approle/role/deploy';
const SNAPSHOT = 'sys/storage/raft/snapshot';
const AT_ONCE = 50;

let postgres: PostgresServer;
let redis: RedisServer;
let cluster: DistributedCluster;
let roleId: string;

/** The calls of each gateway. */
const gateways = () =>
  cluster.urls.map((url) =>
    callsOf(
      () => url,
      () => cluster.token,
      cluster.apiToken,
    ),
  );

const login = (secretId: string, turn = 0): Promise<Answer> => {
  const all = gateways();
  const credentials = { role_id: roleId, secret_id: secretId };
  return (all[turn % all.length] ?? cluster).v1('POST', 'auth/approle/login', credentials, '');
};

const makeSecretId = async (settings: object = {}): Promise<string> =>
  (await cluster.v1('POST', `${ROLE}/secret-id`, settings)).body.data.secret_id as string;

const lookUp = (token: string): Promise<Answer> =>
  cluster.v1('GET', 'auth/token/lookup-self', undefined, token);

beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  cluster = await startDistributed({
    postgres,
    redisUrl: redis.url,
    name: 'logins',
    replicas: { sys: 2, auth: 2, gateway: 2 },
    // The tests are a proxy that terminates TLS.
    settings: { gateway: { CLIENT_CERTIFICATES_FROM: '127.0.0.1' } },
  });
  // Until auth has announced its methods.
  await until(
    // Logins that lose a race for a secret id would lock the role id.
    () =>
      cluster.v1('POST', 'sys/auth/approle', {
        type: 'approle',
        config: { user_lockout_config: { lockout_disable: true } },
      }),
    ({ status }) => status === 204,
  );
  await until(
    () => cluster.v1('POST', ROLE, { token_policies: ['default'], token_ttl: '1h' }),
    ({ status }) => status < 300,
  );
  roleId = (await cluster.v1('GET', `${ROLE}/role-id`)).body.data.role_id;
}, WITHIN_MS);
afterAll(async () => {
  await cluster?.stop();
  await Promise.allSettled([postgres?.[Symbol.asyncDispose](), redis?.[Symbol.asyncDispose]()]);
}, WITHIN_MS);

describe('a login by approle', { timeout: WITHIN_MS }, () => {
  test('makes a token that every replica of sys knows at once, whichever replica of auth made it', async () => {
    const secretId = await makeSecretId();
    for (let turn = 0; turn < 8; turn += 1) {
      const { status, body } = await login(secretId, turn);
      expect(status).toBe(200);
      for (let times = 0; times < 2; times += 1)
        expect((await lookUp(body.auth.client_token)).body.data).toMatchObject({
          path: 'auth/approle/login',
          policies: ['default'],
        });
    }
  });

  test('by certificate asks pki about a mount whose certificates sign in', async () => {
    await cluster.v1('POST', 'sys/mounts/operators', { type: 'pki' });
    await cluster.v1('POST', 'operators/root/generate/internal', {
      common_name: 'Operators',
      key_type: 'ec',
    });
    await cluster.v1('POST', 'sys/auth/cert', { type: 'cert' });
    // Until pki has taken up the mount, which another replica may have answered for.
    const written = await until(
      () => cluster.v1('POST', 'auth/cert/certs/ops', { pki_mounts: 'operators' }),
      ({ status }) => status < 300,
    );
    expect(written.status).toBe(204);
    expect((await cluster.v1('GET', 'auth/cert/certs/ops')).body.data.pki_mounts).toEqual([
      'operators/',
    ]);
    const refused = await cluster.v1('POST', 'auth/cert/certs/none', { pki_mounts: 'sys' });
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      ['pki_mounts names sys/, which is no mount of type pki in this namespace'],
    ]);
    await cluster.v1('POST', 'operators/roles/person', {
      allow_any_name: true,
      enforce_hostnames: false,
      key_type: 'ec',
      ttl: '1h',
    });
    const issued = await cluster.v1('POST', 'operators/issue/person', { common_name: 'alice' });
    const { certificate, serial_number } = issued.body.data;
    const shown = `:${new X509Certificate(certificate).raw.toString('base64')}:`;
    const statuses = async (): Promise<readonly number[]> =>
      Promise.all(
        cluster.urls.map(async (url) => {
          const headers = { 'client-cert': shown };
          const answer = await fetch(`${url}/v1/auth/cert/login`, { method: 'POST', headers });
          return answer.status;
        }),
      );
    expect(await statuses()).toEqual([200, 200]);
    await cluster.v1('POST', 'operators/revoke', { serial_number });
    expect(await statuses()).toEqual([400, 400]);
  });

  test('by certificate decides who enrolls by EST, about which pki asks auth', async () => {
    const { accessor } = (await cluster.v1('GET', 'sys/auth/cert')).body.data;
    const configure = (cert: object): Promise<Answer> =>
      cluster.v1('POST', 'operators/config/est', {
        enabled: true,
        label_to_path_policy: { operators: 'role:person' },
        authenticators: { cert },
      });
    expect((await configure({ accessor, cert_role: 'nobody' })).body.errors).toEqual([
      'authenticators.cert.cert_role: there is no role nobody',
    ]);
    expect((await configure({ accessor, cert_role: 'ops' })).status).toBe(200);
    const issued = await cluster.v1('POST', 'operators/issue/person', { common_name: 'bob' });
    const { certificate } = issued.body.data;
    const shown = `:${new X509Certificate(certificate).raw.toString('base64')}:`;
    const key = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /dev/null';
    const { stdout } = await promisify(execFile)(
      'openssl',
      `req -new ${key} -subj /CN=bob -outform DER`.split(' '),
      { encoding: 'buffer' },
    );
    const enrol = async (): Promise<number> => {
      const url = `${cluster.urls[0]}/.well-known/est/operators/simpleenroll`;
      const headers = { 'client-cert': shown, 'content-type': 'application/pkcs10' };
      return (await fetch(url, { method: 'POST', headers, body: stdout.toString('base64') }))
        .status;
    };
    expect(await enrol()).toBe(200);
    await cluster.v1('DELETE', 'auth/cert/certs/ops');
    expect(await enrol()).toBe(403);
  });

  test('has the certificate names of its entity, of which pki asks sys', async () => {
    await cluster.v1('POST', 'sys/mounts/pki', { type: 'pki' });
    const root = { common_name: 'Root', key_type: 'ec' };
    await cluster.v1('POST', 'pki/root/generate/internal', root);
    const { accessor } = (await cluster.v1('GET', 'sys/auth/approle')).body.data;
    const made = await cluster.v1('POST', 'pki/roles/own', {
      allowed_domains: `{{identity.entity.aliases.${accessor}.name}}.example.com`,
      allowed_domains_template: true,
      allow_bare_domains: true,
      key_type: 'ec',
    });
    expect([made.status, made.body?.errors]).toEqual([200, undefined]);
    const { policy: former } = (await cluster.v1('GET', 'sys/policies/acl/default')).body.data;
    const policy = `${former}\npath "pki/issue/own" { capabilities = ["update"] }`;
    await cluster.v1('POST', 'sys/policies/acl/default', { policy });
    const { client_token: token } = (await login(await makeSecretId())).body.auth;
    const issue = (name: string) =>
      cluster.v1('POST', 'pki/issue/own', { common_name: `${name}.example.com`, ttl: '1h' }, token);
    expect((await issue(roleId)).status).toBe(200);
    expect((await issue('other')).body.errors).toEqual([
      'common name other.example.com not allowed by this role',
    ]);
  });

  test('with a secret id for one use succeeds once, however many arrive at the same time', async () => {
    const secretId = await makeSecretId({ num_uses: 1 });
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, turn) => login(secretId, turn)),
    );
    const [won, ...others] = answers.toSorted((a, b) => a.status - b.status);
    expect(won?.status).toBe(200);
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set([400]));
    expect((await lookUp(won?.body.auth.client_token)).status).toBe(200);
  });

  test('succeeds after a replica of sys was killed, and after one of auth was', async () => {
    const secretId = await makeSecretId();
    for (const service of ['sys', 'auth'] as const) {
      const [killed] = cluster.processes[service];
      await killed?.kill();
      const { body } = await until(
        () => login(secretId),
        ({ status }) => status === 200,
      );
      const found = await until(
        () => lookUp(body.auth.client_token),
        ({ status }) => status === 200,
      );
      expect(found.body.data.path).toBe('auth/approle/login');
      await killed?.start();
    }
  });

  test('succeeds with the role and the secret ids of a snapshot that was restored', async () => {
    const kept = await makeSecretId({ num_uses: 2 });
    const headers = { 'X-Service-Token': cluster.token };
    const taken = await fetch(`${cluster.urls[0]}/v1/${SNAPSHOT}`, { headers });
    const snapshot = new Uint8Array(await taken.arrayBuffer());
    expect((await login(kept)).status).toBe(200);
    expect((await login(kept)).status).toBe(200);
    expect((await login(kept)).status).toBe(400);
    const since = await makeSecretId();
    expect((await cluster.v1('DELETE', ROLE)).status).toBe(204);

    const restored = await fetch(`${cluster.urls[0]}/v1/${SNAPSHOT}`, {
      method: 'POST',
      headers,
      body: snapshot,
    });
    expect([restored.status, await restored.text()]).toEqual([204, '']);
    const { body } = await until(
      () => login(kept),
      ({ status }) => status === 200,
    );
    expect((await lookUp(body.auth.client_token)).status).toBe(200);
    // The other replica may not have taken up the restored stores yet, and refuses until it has.
    const afterwards = await until(
      () => login(since),
      ({ status }) => status !== 503,
    );
    expect(afterwards.status).toBe(400);
    const role = await until(
      () => cluster.v1('GET', `${ROLE}/role-id`),
      ({ status }) => status !== 503,
    );
    expect(role.body.data.role_id).toBe(roleId);
  });
});
