/**
 * A control plane in which several threads serve clients is one control plane, whichever thread a connection leads to.
 *
 * | what | with three threads |
 * | --- | --- |
 * | a write that was answered | is found by the next request of any connection, also after SIGKILL |
 * | one of many at once: a lock, a secret id with one use | one winner |
 * | a rate quota | counts the requests of all threads |
 * | nonces of ACME | are accepted by each thread |
 * | the seal | closes for all threads |
 * | `/metrics`, the newest requests | of all threads |
 * | audit entries, log lines | whole, each once; SIGHUP reopens the files for all threads |
 * | a thread that fails | ends the process, which says so; the next start has everything |
 * | ports of another process | refuse the start |
 */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  AcmeSession,
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
  WriteLedger,
} from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 120_000;
/** More than enough for each of three threads to get some of them. */
const MANY = 40;
const THREADS = { KEELSON_WORKERS: '3', KEELSON_RATE_LIMIT: 'off' } as const;
const FAILING = fileURLToPath(new URL('./testdata/failing-thread.mjs', import.meta.url));

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
const dataFolder = () => join(folder.path, 'data');
const start = (env: Readonly<Record<string, string>> = {}) =>
  startKeelson({
    dataFolder: dataFolder(),
    env: { ...THREADS, KEELSON_AUDIT_DIRECTORIES: folder.path, ...env },
  });

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await start();
}, WITHIN_MS);
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
}, WITHIN_MS);

interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request on a connection of its own, which leads to any of the threads. */
const ask = async (path: string, { method = 'GET', body, headers = {} }: Asked = {}) => {
  const answered = Promise.withResolvers<IncomingMessage>();
  const asked = request(`${keelson.http}${path}`, {
    method,
    agent: false,
    headers: {
      ...(path.startsWith('/v1')
        ? { 'x-service-token': keelson.rootToken }
        : {
            authorization: `Bearer ${keelson.apiToken}`,
            'content-type': 'application/vnd.api+json',
          }),
      ...headers,
    },
  });
  asked.on('response', answered.resolve).on('error', answered.reject);
  asked.end(body === undefined ? undefined : JSON.stringify(body));
  const response = await answered.promise;
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode ?? 0, headers: response.headers, text };
};
const v1 = (method: string, path: string, body?: unknown) => ask(`/v1/${path}`, { method, body });
const dataOf = ({ text }: { readonly text: string }) =>
  (JSON.parse(text) as { readonly data: Readonly<Record<string, string>> }).data;
const atOnce = <T>(count: number, one: (n: number) => Promise<T>): Promise<readonly T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => one(n)));
const countStatus = (answers: readonly { readonly status: number }[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;

describe('what one thread has done', () => {
  test('is found by the next request, whichever thread gets it', async () => {
    await atOnce(8, async (caller) => {
      for (let turn = 0; turn < 10; turn += 1) {
        const path = `sys/policies/acl/of-${caller}`;
        const policy = `path "a/${turn}" { capabilities = ["read"] }`;
        expect((await v1('PUT', path, { policy })).status).toBe(204);
        expect(dataOf(await v1('GET', path))['policy']).toBe(policy);
        expect((await v1('DELETE', path)).status).toBe(204);
        expect((await v1('GET', path)).status).toBe(404);
      }
    });
  });

  test('is a lock that one of many gets', async () => {
    const create = async (path: string, type: string, attributes: object) => {
      const answer = await ask(`/api/v2/${path}`, {
        method: 'POST',
        body: { data: { type, attributes } },
      });
      expect(answer.status).toBe(201);
      return (JSON.parse(answer.text) as { readonly data: { readonly id: string } }).data.id;
    };
    const described = { name: 'threads', email: 'threads@example.com' };
    await create('organizations', 'organizations', described);
    const id = await create('organizations/threads/workspaces', 'workspaces', { name: 'one' });
    const answers = await atOnce(MANY, () =>
      ask(`/api/v2/workspaces/${id}/actions/lock`, { method: 'POST', body: {} }),
    );
    expect([countStatus(answers, 200), countStatus(answers, 409)]).toEqual([1, MANY - 1]);
  });

  test('is the only use of a secret id', async () => {
    await v1('POST', 'sys/auth/machines', { type: 'approle' });
    const role = 'auth/machines/role/ci';
    await v1('POST', role, { token_policies: 'default', secret_id_num_uses: 1 });
    const { role_id } = dataOf(await v1('GET', `${role}/role-id`));
    const { secret_id } = dataOf(await v1('POST', `${role}/secret-id`, {}));
    const answers = await atOnce(MANY, () =>
      v1('POST', 'auth/machines/login', { role_id, secret_id }),
    );
    expect(countStatus(answers, 200)).toBe(1);
  });
});

test('a rate quota counts the requests of all threads', async () => {
  await v1('POST', 'sys/mounts/limited', { type: 'pki' });
  const quota = { path: 'limited/', rate: 5, interval: '1h' };
  expect((await v1('POST', 'sys/quotas/rate-limit/few', quota)).status).toBe(204);
  const answers = await atOnce(MANY, () => v1('GET', 'limited/config/urls'));
  expect([countStatus(answers, 200), countStatus(answers, 429)]).toEqual([5, MANY - 5]);
});

test('an ACME client gets its certificates with a connection for each request', async () => {
  await v1('POST', 'sys/mounts/acme', { type: 'pki' });
  const authority = { common_name: 'Threads', key_type: 'ec' };
  await v1('POST', 'acme/root/generate/internal', authority);
  await v1('POST', 'acme/config/cluster', { path: `${keelson.http}/v1/acme` });
  await v1('POST', 'acme/config/acme', { enabled: true, eab_policy: 'not-required' });
  const directory = `${keelson.http}/v1/acme/acme/directory`;
  for (let turn = 0; turn < 12; turn += 1) {
    const session = await AcmeSession.open({ directory, connections: 1, keepAlive: false });
    await session.close();
  }
  // The client would repeat a request whose nonce a thread does not know.
  expect((await ask('/metrics')).text).not.toMatch(/group="v1\/pki",method="POST",status="400"/);
});

describe('the process', () => {
  test('shows the requests of all threads, and each metric once', async () => {
    const line = 'keelson_http_requests_total{group="v1/sys",method="GET",status="404"}';
    const count = async (): Promise<readonly [number, string]> => {
      const { text } = await ask('/metrics');
      const found = text.split('\n').find((one) => one.startsWith(line));
      return [Number(found?.slice(line.length) ?? 0), text];
    };
    const [before] = await count();
    await atOnce(MANY, (n) => v1('GET', `sys/policies/acl/absent-${n}`));
    const [after, text] = await count();
    expect(after - before).toBe(MANY);
    const heads = text.match(/^# TYPE .*$/gm) ?? [];
    expect(new Set(heads).size).toBe(heads.length);
    expect(text).toMatch(/^keelson_build_info\{.*\} 1$/m);
    expect(text).toMatch(/^keelson_sealed 0$/m);
    expect(text).toMatch(/^keelson_edge_service_ready\{service="pki"\} 1$/m);
  });

  test('records the requests of all threads in one audit file, and lists the newest of them', async () => {
    const file = join(folder.path, 'audit.log');
    const device = { type: 'file', options: { file_path: file } };
    expect((await v1('PUT', 'sys/audit/file', device)).status).toBe(204);
    await atOnce(MANY, (n) => v1('GET', `sys/policies/acl/seen-${n}`));
    const wanted = Array.from({ length: MANY }, (_, n) => `sys/policies/acl/seen-${n}`).toSorted();
    const entries = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one) as { type: string; request: { path: string } });
    const seen = entries.filter(
      ({ type, request: { path } }) => type === 'response' && path.includes('/seen-'),
    );
    expect(seen.map(({ request: { path } }) => path).toSorted()).toEqual(wanted);
    const listed = dataOf(await v1('GET', 'sys/internal/ui/recent-requests')) as unknown as {
      readonly requests: readonly { readonly path: string }[];
    };
    const paths = new Set(listed.requests.map(({ path }) => path));
    expect(wanted.filter((path) => !paths.has(path))).toEqual([]);
    await v1('DELETE', 'sys/audit/file');
  });

  test('reopens its log for all threads when asked', async () => {
    const log = join(dataFolder(), 'keelson.log');
    const moved = join(folder.path, 'moved.log');
    renameSync(log, moved);
    process.kill(keelson.pid, 'SIGHUP');
    await expect
      .poll(() => existsSync(log) && readFileSync(log, 'utf8').includes('"reloaded"'))
      .toBe(true);
    const size = statSync(moved).size;
    await atOnce(MANY, () => v1('GET', 'sys/mounts'));
    await expect
      .poll(() => (readFileSync(log, 'utf8').match(/"path":"\/v1\/sys\/mounts"/g) ?? []).length)
      .toBe(MANY);
    expect(statSync(moved).size).toBe(size);
  });

  test(
    'is sealed as a whole',
    async () => {
      expect((await v1('PUT', 'sys/seal')).status).toBe(204);
      const states = await atOnce(MANY, () => v1('GET', 'sys/seal-status'));
      expect(
        new Set(states.map(({ text }) => (JSON.parse(text) as object)['sealed' as never])),
      ).toEqual(new Set([true]));
      const refused = await atOnce(MANY, () => v1('GET', 'sys/mounts'));
      expect(countStatus(refused, 503)).toBe(MANY);
      expect(await keelson.stop()).toBe(0);
      keelson = await start();
      expect((await v1('GET', 'sys/mounts')).status).toBe(200);
    },
    WITHIN_MS,
  );

  test(
    'that is killed has everything that it acknowledged',
    async () => {
      const ledger = new WriteLedger();
      const killed = Promise.withResolvers<void>();
      let isKilled = false;
      const policy = { policy: 'path "a" { capabilities = ["read"] }' };
      const write = atOnce(12, async (caller) => {
        for (let turn = 0; !isKilled; turn += 1) {
          const name = `kept-${caller}-${turn}`;
          await ledger.attempt(
            name,
            async () => (await v1('PUT', `sys/policies/acl/${name}`, policy)).status,
          );
          if (ledger.acknowledged.length > 150) killed.resolve();
        }
      });
      await killed.promise;
      const ended = keelson.stop('SIGKILL');
      isKilled = true;
      await Promise.all([write, ended]);
      keelson = await start();
      const { keys } = dataOf(await v1('LIST', 'sys/policies/acl')) as unknown as {
        keys: string[];
      };
      const held = new Set(keys);
      expect(ledger.acknowledged.filter((name) => !held.has(name))).toEqual([]);
      expect(ledger.acknowledged.length).toBeGreaterThan(150);
    },
    WITHIN_MS,
  );

  test(
    'ends when one of its threads fails, and the next one has everything',
    async () => {
      const trigger = join(folder.path, 'fail');
      await keelson.stop();
      keelson = await start({ NODE_OPTIONS: `--import=${FAILING}`, FAILING_THREAD_FILE: trigger });
      const policy = { policy: 'path "a" { capabilities = ["read"] }' };
      expect((await v1('PUT', 'sys/policies/acl/before', policy)).status).toBe(204);
      writeFileSync(trigger, '');
      // A signal without effect, to wait for the end.
      expect(await keelson.stop('SIGCONT')).toBe(1);
      const log = readFileSync(join(dataFolder(), 'keelson.log'), 'utf8');
      expect(log).toMatch(/"level":"fatal".*an odd fault.*"msg":"uncaught exception"/);
      keelson = await start();
      expect((await v1('GET', 'sys/policies/acl/before')).status).toBe(200);
      expect((await ask('/metrics')).text).toMatch(/^keelson_uncaught_exceptions_total\{.*\} 1$/m);
    },
    WITHIN_MS,
  );

  test(
    'does not start on a port that another process has',
    async () => {
      const other = createServer().listen({ port: 0, host: '127.0.0.1', reusePort: true });
      await new Promise((resolve) => other.once('listening', resolve));
      const { port } = other.address() as { port: number };
      await keelson.stop();
      await expect(start({ KEELSON_HTTP_PORT: String(port) })).rejects.toThrow('KEELSON_HTTP_PORT');
      other.close();
      keelson = await start();
    },
    WITHIN_MS,
  );
});
