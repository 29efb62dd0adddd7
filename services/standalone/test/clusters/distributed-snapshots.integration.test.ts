/** A snapshot of services on PostgreSQL restored into one process on SQLite, and the other way round. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  bareEnvironment,
  bundledProcess,
  type KeelsonProcess,
  type PostgresServer,
  type RedisServer,
  startKeelson,
  startPostgres,
  startRedis,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import {
  DISTRIBUTED_SERVICES,
  type DistributedCluster,
  ofEachService,
  startDistributed,
} from '@keelson/testkit/distributed-cluster';
import { until } from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REFUSED_SNAPSHOTS } from '../refused-snapshots.ts';

let folder: TemporaryDirectory;
let postgres: PostgresServer;
let redis: RedisServer;
let cluster: DistributedCluster;
let single: KeelsonProcess;

const SNAPSHOT = 'sys/storage/raft/snapshot';

const call = (
  url: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> =>
  fetch(`${url}/v1/${path}`, {
    method,
    headers: { 'X-Vault-Token': token },
    ...(body !== undefined && {
      body: body instanceof Uint8Array ? body : JSON.stringify(body),
    }),
  });

const take = async (url: string, token: string): Promise<Uint8Array> => {
  const response = await call(url, token, 'GET', SNAPSHOT);
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
};

/** Waits for the service, which opens its store after sys; until then it answers 503. */
const untilServed = async (ask: () => Promise<Response>): Promise<Response> => {
  for (;;) {
    const response = await ask();
    if (response.status !== 503) return response;
    await response.arrayBuffer();
  }
};

const createRole = async (url: string, token: string, name: string): Promise<void> => {
  const made = await call(url, token, 'POST', `pki/roles/${name}`, { allow_any_name: true });
  expect(made.status).toBe(200);
};
const findRole = async (url: string, token: string, name: string): Promise<number> =>
  (await untilServed(() => call(url, token, 'GET', `pki/roles/${name}`))).status;

const findPolicy = async (url: string, token: string, name: string): Promise<number> =>
  (await untilServed(() => call(url, token, 'GET', `sys/policies/acl/${name}`))).status;

/** Writes of two services, by three writers, until `stop`. */
const writeRoles = (url: string, token: string) => {
  const acknowledged: string[] = [];
  let isOn = true;
  const write = async (writer: number): Promise<void> => {
    for (let n = 0; isOn; n += 1) {
      const name = `w-${writer}-${n}`;
      const policy = `path "x/${name}" { capabilities = ["read"] }`;
      const made = await call(url, token, 'POST', `sys/policies/acl/${name}`, { policy });
      expect(made.status).toBe(204);
      await createRole(url, token, name);
      acknowledged.push(name);
    }
  };
  const writers = [1, 2, 3].map(write);
  return {
    /** In the order of the answers. */
    acknowledged,
    stop: async () => {
      isOn = false;
      await Promise.all(writers);
    },
  };
};

const unseal = async (url: string, shares: readonly string[]): Promise<void> => {
  for (const key of shares) {
    const told = await call(url, '', 'POST', 'sys/unseal', { key });
    if (((await told.json()) as { readonly sealed: boolean }).sealed === false) return;
  }
  throw new Error('the shares did not unseal');
};

const COMMAND = await bundledProcess('services/cli/src/main.ts');

const keelson = async (
  given: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly out: string }> => {
  const ended = await promisify(execFile)(process.execPath, [COMMAND, ...given], {
    env: { ...bareEnvironment(folder.path), ...env },
  }).catch((failed: { code: number; stdout: string; stderr: string }) => failed);
  return { code: 'code' in ended ? ended.code : 0, out: ended.stdout + ended.stderr };
};

/** The command line, which is the only other way to initialize a cluster. */
const initializeByCommand = async (url: string) => {
  const given = ['--address', url, 'init', '--shares', '1', '--threshold', '1', '--json'];
  const made = await keelson(given);
  expect(made.code).toBe(0);
  const again = await keelson(given);
  expect([again.code, again.out]).toEqual([1, expect.stringContaining('already initialized')]);
  const facts = JSON.parse(made.out) as {
    readonly root_token: string;
    readonly keys_base64: readonly string[];
  };
  await unseal(url, facts.keys_base64);
  return { token: facts.root_token, shares: facts.keys_base64 };
};

/** A snapshot of a cluster with other keys. */
let foreignSnapshot: Uint8Array;

beforeAll(async () => {
  folder = await temporaryDirectory();
  [postgres, redis, single] = await Promise.all([
    startPostgres(),
    startRedis(),
    startKeelson({ dataFolder: join(folder.path, 'data') }),
  ]);
  cluster = await startDistributed({
    postgres,
    redisUrl: redis.url,
    name: 'copied',
    seal: 'shamir',
    initialize: initializeByCommand,
  });
  // Restorations replace its keys and its token.
  foreignSnapshot = await take(single.http, single.rootToken);
});
afterAll(async () => {
  await Promise.allSettled([cluster?.stop(), single?.stop()]);
  await Promise.allSettled([postgres?.[Symbol.asyncDispose](), redis?.[Symbol.asyncDispose]()]);
  await folder[Symbol.asyncDispose]();
});

test('goes from PostgreSQL to SQLite and back, with all services and the keys of the cluster', async () => {
  const url = cluster.urls[0] ?? '';
  await until(
    () => cluster.v1('POST', 'sys/mounts/pki', { type: 'pki' }),
    ({ status }) => status === 204,
  );
  await untilServed(() => call(url, cluster.token, 'LIST', 'pki/roles'));
  await createRole(url, cluster.token, 'from-postgresql');
  const { acknowledged, stop } = writeRoles(url, cluster.token);
  await until(
    () => Promise.resolve(acknowledged.length),
    (written) => written >= 30,
  );
  const before = [...acknowledged];
  const first = await take(url, cluster.token);
  await stop();

  const forced = await call(single.http, single.rootToken, 'POST', `${SNAPSHOT}-force`, first);
  expect([forced.status, await forced.text()]).toEqual([
    200,
    expect.stringContaining('first-run.replaced.json'),
  ]);
  await unseal(single.http, cluster.shares);
  expect(await findRole(single.http, cluster.token, 'from-postgresql')).toBe(200);
  for (const name of before) {
    expect(await findRole(single.http, cluster.token, name)).toBe(200);
    expect(await findPolicy(single.http, cluster.token, name)).toBe(200);
  }
  const account = await untilServed(() =>
    fetch(`${single.http}/api/v2/account/details`, {
      headers: { Authorization: `Bearer ${cluster.apiToken}` },
    }),
  );
  expect(account.status).toBe(200);

  await createRole(single.http, cluster.token, 'from-sqlite');
  await createRole(url, cluster.token, 'lost');
  const second = await take(single.http, cluster.token);
  // The keys are those of the cluster, so that no force is needed.
  const restored = await call(url, cluster.token, 'POST', SNAPSHOT, second);
  expect([restored.status, await restored.text()]).toEqual([204, '']);
  // Shares open this seal, and a restored cluster is sealed.
  expect((await (await call(url, '', 'GET', 'sys/seal-status')).json()) as object).toMatchObject({
    sealed: true,
  });
  await unseal(url, cluster.shares);
  expect(await findRole(url, cluster.token, 'from-sqlite')).toBe(200);
  expect(await findRole(url, cluster.token, 'lost')).toBe(404);
  await createRole(url, cluster.token, 'afterwards');
  expect(await readFile(join(single.dataFolder, 'keelson.log'), 'utf8')).not.toContain(
    cluster.token,
  );
});

test('is followed by the other replicas of each service, which forget newer keys', async () => {
  const replicated = await startDistributed({
    postgres,
    redisUrl: `${redis.url}/1`,
    name: 'replicas',
    replicas: { ...ofEachService(2), gateway: 2 },
  });
  try {
    const [url = '', otherUrl = ''] = replicated.urls;
    const { token } = replicated;
    await until(
      () => replicated.v1('POST', 'sys/mounts/pki', { type: 'pki' }),
      ({ status }) => status === 204,
    );
    await untilServed(() => call(url, token, 'LIST', 'pki/roles'));
    await createRole(url, token, 'before');
    const snapshot = await take(url, token);
    // Keys that the snapshot does not have.
    expect((await call(url, token, 'POST', 'sys/rotate')).status).toBe(204);
    const names = Array.from({ length: 8 }, (_, at) => `after-${at}`);
    for (const name of names) await createRole(url, token, name);
    for (const at of [url, otherUrl]) expect(await findRole(at, token, 'after-0')).toBe(200);

    expect((await call(url, token, 'POST', SNAPSHOT, snapshot)).status).toBe(204);
    // The replicas take turns, so that each writes some of these.
    const again = Array.from({ length: 16 }, (_, at) => `again-${at}`);
    for (const [at, name] of again.entries()) {
      const made = await untilServed(() =>
        call(at % 2 === 0 ? url : otherUrl, token, 'POST', `pki/roles/${name}`, {
          allow_any_name: true,
        }),
      );
      expect(made.status).toBe(200);
    }
    for (const replicas of [replicated.processes.sys, replicated.processes.pki])
      for (const replica of replicas) {
        await replica.kill();
        await replica.start();
      }
    for (const name of again) expect(await findRole(url, token, name)).toBe(200);
    expect(await findRole(url, token, 'before')).toBe(200);
    expect(await findRole(otherUrl, token, 'after-0')).toBe(404);
  } finally {
    await replicated.stop();
  }
});

const restorationOf = async (database: string): Promise<unknown> =>
  (
    await postgres.firstRow(
      database,
      `SELECT encode(stored, 'escape') AS found FROM record WHERE path = 'node/core/restoration'`,
    )
  )?.['found'];
const stagedIn = async (database: string): Promise<unknown> =>
  (await postgres.firstRow(database, 'SELECT count(*)::int AS found FROM staged_record'))?.[
    'found'
  ];
const doctor = (database: string) =>
  keelson(['doctor', '--database'], {
    KEELSON_DATABASE_URL: `postgres://postgres@127.0.0.1:${postgres.port}/${database}`,
  });

describe('a restoration on PostgreSQL that is killed', () => {
  const databases = DISTRIBUTED_SERVICES.map((service) => `killed_${service}`);
  const [sysDatabase, pkiDatabase, workspaceDatabase] = databases as [string, string, string];
  let killed: DistributedCluster;
  let url: string;
  let snapshot: Uint8Array;
  beforeAll(async () => {
    killed = await startDistributed({ postgres, redisUrl: `${redis.url}/2`, name: 'killed' });
    url = killed.urls[0] ?? '';
    await until(
      () => killed.v1('POST', 'sys/mounts/pki', { type: 'pki' }),
      ({ status }) => status === 204,
    );
    await untilServed(() => call(url, killed.token, 'LIST', 'pki/roles'));
    await createRole(url, killed.token, 'kept');
    snapshot = await take(url, killed.token);
    await createRole(url, killed.token, 'since');
  });
  afterAll(() => killed?.stop());

  const restoreAgain = () => call(url, killed.token, 'POST', SNAPSHOT, snapshot);
  const restartSys = async (): Promise<void> => {
    await killed.processes.sys[0]?.kill();
    await killed.processes.sys[0]?.start();
  };

  test('before its file is verified has changed nothing, which doctor says, and is repeated', async () => {
    // The pages of workspace come last.
    const lock = await postgres.lockTable(workspaceDatabase, 'staged_record');
    const first = restoreAgain().catch(() => undefined);
    await until(
      () => stagedIn(pkiDatabase),
      (records) => Number(records) > 0,
    );
    await restartSys();
    await lock[Symbol.asyncDispose]();
    await first;
    expect(await findRole(url, killed.token, 'since')).toBe(200);
    expect((await doctor(pkiDatabase)).out).toMatch(
      /fault .* records of an interrupted restoration wait: .*everything is as before/,
    );
    expect(await restorationOf(workspaceDatabase)).toBeUndefined();
    expect((await restoreAgain()).status).toBe(204);
    expect(await findRole(url, killed.token, 'since')).toBe(404);
    expect(await findRole(url, killed.token, 'kept')).toBe(200);
    expect((await doctor(pkiDatabase)).out).not.toContain('interrupted restoration');
  });

  test('between two databases is finished by the next start of sys', async () => {
    await createRole(url, killed.token, 'since');
    const former = await restorationOf(workspaceDatabase);
    // Auth and workspace are replaced first, then pki, sys last.
    const lock = await postgres.lockTable(pkiDatabase, 'record');
    const first = restoreAgain().catch(() => undefined);
    await until(
      () => restorationOf(workspaceDatabase),
      (found) => found !== former,
    );
    // In the middle of replacing the records of pki.
    await Promise.all([killed.processes.sys[0]?.kill(), killed.processes.pki[0]?.kill()]);
    const told = await doctor(sysDatabase);
    expect(told.out).toMatch(/fault .* records of an interrupted restoration wait: start sys/);
    await lock[Symbol.asyncDispose]();
    await first;
    await Promise.all([killed.processes.sys[0]?.start(), killed.processes.pki[0]?.start()]);
    expect(await findRole(url, killed.token, 'kept')).toBe(200);
    await until(
      () => findRole(url, killed.token, 'since'),
      (status) => status === 404,
    );
    expect(await findPolicy(url, killed.token, 'default')).toBe(200);
    for (const database of databases) expect(await stagedIn(database)).toBe(0);
    await createRole(url, killed.token, 'afterwards');
    expect((await take(url, killed.token)).byteLength).toBeGreaterThan(0);
  });

  test('in another service than sys fails naming what was replaced, and is repeated', async () => {
    const former = await restorationOf(workspaceDatabase);
    const lock = await postgres.lockTable(pkiDatabase, 'record');
    const first = restoreAgain();
    await until(
      () => restorationOf(workspaceDatabase),
      (found) => found !== former,
    );
    await killed.processes.pki[0]?.kill();
    const answer = await first;
    expect(answer.status).toBe(500);
    expect(await answer.text()).toContain(
      'the records of auth, workspace were restored, those of pki were not',
    );
    await lock[Symbol.asyncDispose]();
    await killed.processes.pki[0]?.start();
    await until(restoreAgain, ({ status }) => status === 204);
    expect(await findRole(url, killed.token, 'afterwards')).toBe(404);
    expect(await findRole(url, killed.token, 'kept')).toBe(200);
  });

  test.for(REFUSED_SNAPSHOTS)(
    'a snapshot %s is refused, changes nothing and leaves no pages behind',
    async ([, make, text]) => {
      await createRole(url, killed.token, 'unchanged');
      const own = await take(url, killed.token);
      const body = make({ own, foreign: foreignSnapshot });
      const refused = await call(url, killed.token, 'POST', SNAPSHOT, body);
      expect([refused.status, await refused.json()]).toEqual([
        400,
        { errors: [expect.stringContaining(text)] },
      ]);
      expect(await findRole(url, killed.token, 'unchanged')).toBe(200);
      for (const database of databases) expect(await stagedIn(database)).toBe(0);
    },
  );
});

test('the databases are examined by the command line', async () => {
  const databases = DISTRIBUTED_SERVICES.map((service) => `copied_${service}`);
  for (const name of databases) {
    const url = `postgres://postgres@127.0.0.1:${postgres.port}/${name}`;
    const found = await keelson(['doctor', '--database'], { KEELSON_DATABASE_URL: url });
    expect([found.code, found.out]).toEqual([
      expect.any(Number),
      expect.stringMatching(/good .* format 1, \d+ commits/),
    ]);
    // The servers of the tests run without flushing, which loses data in a crash.
    expect(found.out).toMatch(/fault .* fsync is off/);
  }
  const wrong = await keelson(['doctor', '--database'], {
    KEELSON_DATABASE_URL: `postgres://postgres:hunter2@127.0.0.1:${postgres.port}/nowhere`,
  });
  expect(wrong.code).toBe(2);
  expect(wrong.out).toMatch(/cannot be read: database "nowhere" does not exist/);
  expect(wrong.out).not.toContain('hunter2');
  const none = await keelson(['doctor', '--database']);
  expect([none.code, none.out]).toEqual([2, expect.stringContaining('It is not set')]);
});
