/** Logins of runs where auth, sys and the workspace service are processes of their own with replicas. */
import { type PostgresServer, type RedisServer, startPostgres, startRedis } from '@keelson/testkit';
import { type DistributedCluster, startDistributed } from '@keelson/testkit/distributed-cluster';
import { addPlannedRun } from '@keelson/testkit/planned-run';
import { callsOf, until } from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 300_000;

let postgres: PostgresServer;
let redis: RedisServer;
let cluster: DistributedCluster;

/** The calls of each gateway. */
const gateways = () =>
  cluster.urls.map((url) =>
    callsOf(
      () => url,
      () => cluster.token,
      cluster.apiToken,
    ),
  );

beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  cluster = await startDistributed({
    postgres,
    redisUrl: redis.url,
    name: 'run_logins',
    replicas: { auth: 2, workspace: 2, gateway: 2 },
    // Where the mount that stands for one elsewhere finds the keys.
    settings: { auth: { OUTBOUND_RANGES: '127.0.0.0/8' } },
  });
}, WITHIN_MS);
afterAll(async () => {
  await cluster?.stop();
  await Promise.allSettled([postgres?.[Symbol.asyncDispose](), redis?.[Symbol.asyncDispose]()]);
}, WITHIN_MS);

describe('a login by a run', { timeout: WITHIN_MS }, () => {
  test('is decided with the workspace service, by the keys that every gateway shows', async () => {
    const workspaces = async (method: string, path: string, body?: object, token?: string) => {
      const answer = await cluster.api(method, path, body, token);
      if (answer.status >= 400) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
      return answer.body;
    };
    // Until the workspace service has taken up the token.
    await until(
      () => cluster.api('GET', 'account/details'),
      ({ status }) => status === 200,
    );
    const run = await addPlannedRun({ origin: () => cluster.urls[0] ?? '', workspaces }, 'web');
    const attributes = { key: 'TFC_WORKLOAD_IDENTITY_AUDIENCE', value: 'keelson', category: 'env' };
    const data = { type: 'vars', attributes };
    await workspaces('POST', `workspaces/${run.workspaceId}/vars`, { data });
    await workspaces('POST', `runs/${run.runId}/actions/apply`, {});
    const claimed = await run.claim();
    const [{ token }] = claimed.attributes['workload-identity-tokens'];
    const { kid } = JSON.parse(Buffer.from(token.split('.')[0], 'base64url').toString());
    for (const url of cluster.urls) {
      const { keys } = (await (await fetch(`${url}/.well-known/jwks`)).json()) as {
        readonly keys: readonly { readonly kid: string }[];
      };
      expect(keys.map((key) => key.kid)).toContain(kid);
    }

    // Until auth has announced its methods.
    await until(
      () => cluster.v1('POST', 'sys/auth/runs', { type: 'jwt' }),
      ({ status }) => status === 204,
    );
    await until(
      () => cluster.v1('POST', 'auth/runs/config', { keelson_runs: true }),
      ({ status }) => status === 204,
    );
    const role = {
      role_type: 'jwt',
      user_claim: 'terraform_full_workspace',
      bound_audiences: 'keelson',
      bound_claims: { terraform_organization_name: 'acme' },
      token_ttl: '1h',
    };
    await cluster.v1('POST', 'auth/runs/role/web', role);
    const signIn = (turn: number) => {
      const all = gateways();
      const gateway = all[turn % all.length] ?? cluster;
      return gateway.v1('POST', 'auth/runs/login', { role: 'web', jwt: token }, '');
    };
    const signedIn = await until(
      () => signIn(0),
      ({ status }) => status !== 503,
    );
    expect(signedIn.status).toBe(200);
    const own = signedIn.body.auth.client_token;
    for (let turn = 0; turn < 6; turn += 1) expect((await signIn(turn)).status).toBe(200);
    const renew = () => cluster.v1('POST', 'auth/token/renew-self', {}, own);
    expect((await renew()).status).toBe(200);

    await run.finish();
    for (let turn = 0; turn < 6; turn += 1) {
      const { status, body } = await signIn(turn);
      expect([status, ...body.errors]).toEqual([
        400,
        'error validating token: the phase of its run has ended',
      ]);
    }
    expect((await renew()).status).toBe(400);

    // Others have the published keys alone, and accept the token until it expires.
    await cluster.v1('POST', 'sys/auth/elsewhere', { type: 'jwt' });
    const config = { jwks_url: `${cluster.urls[1]}/.well-known/jwks`, jwt_supported_algs: 'RS256' };
    expect((await cluster.v1('POST', 'auth/elsewhere/config', config)).body?.errors).toBe(
      undefined,
    );
    await cluster.v1('POST', 'auth/elsewhere/role/web', role);
    const asked = { role: 'web', jwt: token };
    expect((await cluster.v1('POST', 'auth/elsewhere/login', asked, '')).status).toBe(200);
    const [head, , signature] = token.split('.');
    const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
    const changed = { ...claims, terraform_organization_name: 'other' };
    const forged = [head, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature];
    const given = { role: 'web', jwt: forged.join('.') };
    expect((await cluster.v1('POST', 'auth/elsewhere/login', given, '')).status).toBe(400);
  });
});
