import { hostname } from 'node:os';
import { openPostgresStore } from '@keelson/storage/postgres';
import { type PostgresServer, startPostgres } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinMethod, logIn, servedMethods } from './login-steps.ts';
import { passcodeApp } from './passcode-app.ts';
import { type Document, openSysHarness, type SysHarness } from './sys-harness.ts';

let postgres: PostgresServer;
let first: SysHarness;
let second: SysHarness;
let root: string;

beforeAll(async () => {
  postgres = await startPostgres();
  const connectionString = await postgres.createDatabase('sys');
  const open = () =>
    openSysHarness({
      storageType: 'postgresql',
      authMethods: servedMethods,
      openStore: (barrier, _folder, clock) =>
        openPostgresStore({ connectionString, barrier, clock }),
    });
  [first, second] = [await open(), await open()];
  const made = await first.initialize();
  root = made.rootToken;
  await second.sys.seal.unseal(made.key);
});
afterAll(async () => {
  await first.close();
  await second.close();
  await postgres[Symbol.asyncDispose]();
});

const lists = async (replica: SysHarness, token: string): Promise<number> =>
  (await replica.call('LIST', 'sys/policies/acl', { token })).status;

describe('two replicas on one database', () => {
  test('a revoked token is refused by the other replica with its next request', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { body } = await first.call('POST', 'auth/token/create', {
        token: root,
        body: { policies: ['root'] },
      });
      const token = body.auth.client_token;
      expect(await lists(second, token)).toBe(200);
      await first.call('POST', 'auth/token/revoke', { token: root, body: { token } });
      expect(await lists(second, token)).toBe(403);
    }
  });

  test('a changed policy decides in the other replica with its next request', async () => {
    const { body } = await second.call('POST', 'auth/token/create', {
      token: root,
      body: { policies: ['p'] },
    });
    const token = body.auth.client_token;
    for (let round = 0; round < 20; round += 1) {
      const capability = round % 2 === 0 ? 'list' : 'deny';
      await first.call('PUT', 'sys/policies/acl/p', {
        token: root,
        body: { policy: `path "sys/policies/acl" { capabilities = ["${capability}"] }` },
      });
      expect(await lists(second, token)).toBe(round % 2 === 0 ? 200 : 403);
    }
  });

  test('a use limit applies to both replicas together', async () => {
    const { body } = await first.call('POST', 'auth/token/create', {
      token: root,
      body: { policies: ['default'], num_uses: 6 },
    });
    const token = body.auth.client_token;
    const uses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? first : second).call('GET', 'auth/token/lookup-self', { token }),
      ),
    );
    expect(uses.filter(({ status }) => status === 200)).toHaveLength(6);
  });

  test('of 50 right answers at once to a login that waits one gets a token', async () => {
    for (const harness of [first, second]) await joinMethod(harness);
    const post = async (path: string, body: object): Promise<Document> =>
      (await first.call('POST', path, { token: root, body })).body;
    await post('sys/auth/mfa', { type: 'people' });
    const { uuid, accessor } = (await first.call('GET', 'sys/auth/mfa', { token: root })).body.data;
    const { entity_id } = await logIn(first, uuid);
    const answers: [string, string][] = [];
    for (let at = 0; at < 50; at += 1) {
      const method = { issuer: 'Site', method_name: `app-${at}` };
      const { method_id } = (await post('identity/mfa/method/totp', method)).data;
      const path = 'identity/mfa/method/totp/admin-generate';
      const { url } = (await post(path, { method_id, entity_id })).data;
      answers.push([method_id, passcodeApp(url)(first.clock.nowMs())]);
    }
    await post('identity/mfa/login-enforcement/mfa', {
      mfa_method_ids: answers.map(([id]) => id),
      auth_method_accessors: [accessor],
    });
    const { mfa_request_id } = (await logIn(first, uuid)).mfa_requirement;
    const finished = await Promise.all(
      answers.map(([id, passcode], at) =>
        (at % 2 === 0 ? first : second).call('POST', 'sys/mfa/validate', {
          body: { mfa_request_id, mfa_payload: { [id]: [passcode] } },
        }),
      ),
    );
    const count = (status: number) => finished.filter((one) => one.status === status).length;
    expect({ granted: count(200), refused: count(403) }).toEqual({ granted: 1, refused: 49 });
  });

  test('tokens of a person are listed and ended by either', async () => {
    for (const harness of [first, second]) await joinMethod(harness);
    await first.call('POST', 'sys/auth/people', { token: root, body: { type: 'people' } });
    const { uuid } = (await second.call('GET', 'sys/auth/people', { token: root })).body.data;
    const mine = await logIn(first, uuid);
    const others = await Promise.all(
      Array.from({ length: 101 }, (_, at) => logIn(at % 2 === 0 ? first : second, uuid)),
    );
    const { client_token: token } = mine;
    const count = async (replica: SysHarness): Promise<number> => {
      let before = '';
      let counted = 0;
      do {
        const query = `limit=40${before && `&before=${before}`}`;
        const { data } = (await replica.call('GET', 'auth/token/own', { token, query })).body;
        counted += data.tokens.length;
        before = data.next ?? '';
      } while (before !== '');
      return counted;
    };
    expect([await count(first), await count(second)]).toEqual([102, 102]);
    const [one] = others;
    await first.call('POST', 'auth/token/own/revoke', { token, body: { accessor: one.accessor } });
    const stale = await second.call('GET', 'auth/token/own', { token: one.client_token });
    expect(stale.status).toBe(403);
    // Both at once: nothing is left over, and neither fails.
    const ended = await Promise.all(
      [first, second].map((replica) =>
        replica.call('POST', 'auth/token/own/revoke-others', { token }),
      ),
    );
    expect(ended.map(({ status }) => status)).toEqual([200, 200]);
    expect([await count(first), await count(second)]).toEqual([1, 1]);
  });

  test('a key rotated by one replica opens what the other wrote', async () => {
    expect((await first.call('PUT', 'sys/rotate', { token: root })).status).toBe(204);
    await first.call('PUT', 'sys/policies/acl/q', {
      token: root,
      body: { policy: 'path "q" { policy = "read" }' },
    });
    const read = await second.call('GET', 'sys/policies/acl/q', { token: root });
    expect(read.body.data.name).toBe('q');
    expect((await second.call('GET', 'sys/key-status', { token: root })).body.data.term).toBe(2);
  });

  test('one attempt to generate a root token is seen by both', async () => {
    const { nonce } = (await first.call('PUT', 'sys/generate-root/attempt', { body: {} })).body;
    const other = await second.call('PUT', 'sys/generate-root/attempt', { body: {} });
    expect(other.body.errors).toEqual(['root generation already in progress']);
    const seen = await second.call('GET', 'sys/generate-root/attempt', { token: root });
    expect(seen.body.nonce).toBe(nonce);
  });

  test('each lists both, without one that has gone silent', async () => {
    const listed = async (replica: SysHarness) => {
      const { body } = await replica.call('GET', 'sys/ha-status', { token: root });
      return body.data.nodes.map((node: Document) => [
        node.hostname,
        node.active_node,
        node.last_echo,
      ]);
    };
    const here = [hostname(), true, null];
    for (const replica of [first, second]) await replica.settle('node-echo');
    const echo = new Date(first.clock.nowMs()).toISOString();
    for (const replica of [first, second])
      expect(await listed(replica)).toEqual([here, [hostname(), true, echo]]);
    first.clock.advance(30_001);
    expect(await listed(first)).toEqual([here]);
    await first.settle('node-echo');
    expect(await listed(second)).toHaveLength(2);
    second.clock.advance(30_001);
    await second.settle('node-echo');
    expect(await listed(first)).toHaveLength(2);
  });

  test('the hundredth custom message is created once', async () => {
    const path = 'sys/config/ui/custom-messages';
    const create = (index: number) =>
      (index % 2 === 0 ? first : second).call('POST', path, {
        token: root,
        body: { title: `${index}`, message: '', start_time: 0 },
      });
    for (let index = 0; index < 80; index++) await create(index);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => create(index)));
    const count = (status: number): number =>
      answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(400)]).toEqual([20, 30]);
    for (const replica of [first, second])
      expect((await replica.call('LIST', path, { token: root })).body.data.keys).toHaveLength(100);
  });

  test('a mount, a namespace and a used wrapping token are visible to the other replica at once', async () => {
    await first.call('POST', 'sys/mounts/pki', { token: root, body: { type: 'sample' } });
    expect((await second.call('GET', 'pki/ca')).body).toEqual({ service: 'sample' });
    await second.call('POST', 'sys/namespaces/team', { token: root });
    expect((await first.call('GET', 'team/sys/mounts', { token: root })).status).toBe(200);
    const wrapped = await first.call('GET', 'sys/mounts', { token: root, wrapTtlSeconds: 60 });
    const body = { token: wrapped.body.wrap_info.token };
    const unwrapped = await Promise.all(
      [first, second].map((replica) => replica.call('POST', 'sys/wrapping/unwrap', { body })),
    );
    expect(unwrapped.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
  });

  test('the requests that gateways report to either replica add up', async () => {
    const minuteMs = BigInt(Math.floor(first.clock.nowMs() / 60_000) * 60_000);
    const counts = { minutes: [{ minuteMs, requests: 1, errors: 0, durations: [1] }] };
    for (let round = 0; round < 10; round += 1) {
      for (const { sys } of [first, second]) await sys.access.countRequests(counts);
      await Promise.all([first, second].map((replica) => replica.settle('history')));
    }
    for (const replica of [first, second]) {
      const { body } = await replica.call('GET', 'sys/history', { token: root });
      expect(body.data.series.requests.at(-1)).toBe(20);
    }
  });
});
