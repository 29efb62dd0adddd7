/**
 * Stores of earlier versions, opened by today's: every golden store as a data folder, its snapshot restored into
 * SQLite and PostgreSQL, and what its primary published applied by a secondary.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type KeelsonProcess,
  type PostgresServer,
  type RedisServer,
  startKeelson,
  startNats,
  startPostgres,
  startRedis,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { callsOf, generateRoot, until } from '@keelson/testkit/addressed-cluster';
import { startDistributed } from '@keelson/testkit/distributed-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answersOf, type GoldenCalls, goldenCalls } from './golden/golden-calls.ts';
import { writeToEachArea } from './golden/golden-contents.ts';
import { decodeFolder } from './golden/golden-records.ts';
import {
  currentRecords,
  DATA,
  EXCHANGED,
  type GoldenAnswer,
  goldenNames,
  loadAnswers,
  SECONDARY,
  SNAPSHOT,
  STREAM,
  unpackGolden,
} from './golden/golden-stores.ts';
import { publishRecorded, relayTo } from './golden/golden-stream.ts';
import { KINDS_LEFT_OUT } from './golden/kinds-left-out.ts';

const env = { KEELSON_RATE_LIMIT: 'off' };
const RESTORE = 'sys/storage/raft/snapshot';

/** Written once, and the same in all clusters of the set. */
const REPLICATED = [
  'auth/token/roles/deploy',
  'pki/config/crl',
  'pki/config/est',
  'pki/roles/web',
  'sys/policies/acl/readers',
];

let postgres: PostgresServer;
let redis: RedisServer;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
});
afterAll(async () => {
  await Promise.allSettled([postgres?.[Symbol.asyncDispose](), redis?.[Symbol.asyncDispose]()]);
});

interface FirstRun {
  readonly root_token: string;
  readonly api_token: string;
  readonly unseal_keys: readonly string[];
}

test('the newest golden store has records of all kinds but those that are left out for a reason', async () => {
  await using folder = await temporaryDirectory();
  unpackGolden(goldenNames().at(-1) ?? '', folder.path);
  const stores = await Promise.all(
    [DATA, SECONDARY, ...EXCHANGED].map((name) => decodeFolder(join(folder.path, name))),
  );
  const absent = Object.keys(currentRecords()).filter(
    (kind) => !stores.some(({ kinds }) => kinds.has(kind)),
  );
  expect(
    absent.toSorted(),
    'add calls that make a record of each kind to `golden/`, and run `npm run golden`; or list it in `kinds-left-out.ts`',
  ).toEqual(Object.values(KINDS_LEFT_OUT).flat().toSorted());
});

describe.each(goldenNames())('the golden store %s', (name) => {
  let folder: TemporaryDirectory;
  let answers: readonly GoldenAnswer[];
  let facts: FirstRun;
  beforeAll(async () => {
    folder = await temporaryDirectory();
    unpackGolden(name, folder.path);
    answers = loadAnswers(folder.path);
    facts = JSON.parse(readFileSync(join(folder.path, DATA, 'first-run.json'), 'utf8'));
  });
  afterAll(() => folder?.[Symbol.asyncDispose]());

  const callsAt = (http: string): GoldenCalls =>
    goldenCalls(http, { rootToken: facts.root_token, apiToken: facts.api_token });

  const expectSameAnswers = async (calls: GoldenCalls): Promise<void> => {
    expect(answers.length).toBeGreaterThan(80);
    for (const { of, method, path, answer } of answers)
      expect([path, await calls[of](method, path)]).toMatchObject([path, answer]);
  };

  const restoreAt = async (http: string, path: string, token: string): Promise<void> => {
    const answer = await fetch(`${http}/v1/${path}`, {
      method: 'POST',
      headers: { 'X-Service-Token': token },
      body: readFileSync(join(folder.path, SNAPSHOT)),
    });
    const isDone = expect.toSatisfy((status: number) => status < 300);
    expect([answer.status, await answer.text()]).toEqual([isDone, expect.any(String)]);
  };

  /** Restores the snapshot by force, and opens the seal with the shares of its cluster. */
  const restore = async (http: string, token: string): Promise<void> => {
    await restoreAt(http, `${RESTORE}-force`, token);
    const { v1, api } = callsOf(
      () => http,
      () => facts.root_token,
      facts.api_token,
    );
    for (const key of facts.unseal_keys.slice(0, 3)) await v1('POST', 'sys/unseal', { key }, '');
    await until(
      async () => [
        (await v1('GET', 'pki/config/crl')).status,
        (await api('GET', 'account/details')).status,
      ],
      (statuses) => !statuses.includes(503),
    );
  };

  const ROLE = 'auth/approle/role/deploy';
  /** A role of auth, which releases without that service cannot have in their snapshots. */
  const makeRole = async (http: string, token: string): Promise<void> => {
    const { v1 } = answersOf(http, { rootToken: token, apiToken: '' });
    await until(
      () => v1('POST', 'sys/auth/approle', { type: 'approle' }),
      ({ status }) => status === 204,
    );
    await until(
      () => v1('POST', ROLE, {}),
      ({ status }) => status < 300,
    );
  };
  /** Auth has a store without the records of the former cluster, and writes to it. */
  const expectEmptyAuth = async (http: string): Promise<void> => {
    const { v1 } = answersOf(http, { rootToken: facts.root_token, apiToken: '' });
    expect((await v1('GET', 'sys/auth')).body.data).not.toHaveProperty('approle/');
    await makeRole(http, facts.root_token);
    expect((await v1('LIST', 'auth/approle/role')).body.data.keys).toEqual(['deploy']);
    expect((await v1('DELETE', ROLE)).status).toBe(204);
    expect((await v1('DELETE', 'sys/auth/approle')).status).toBe(204);
  };

  /** Reads everything and writes to each area. @returns what was not written */
  const use = async (http: string): Promise<readonly string[]> => {
    const calls = callsAt(http);
    await expectSameAnswers(calls);
    const unwritten = await writeToEachArea(calls);
    expect(await calls.v1('GET', 'sys/health')).not.toHaveProperty('damaged_records');
    return unwritten;
  };

  test('has only records that fit their declarations', async () => {
    const { decoded, faults } = await decodeFolder(join(folder.path, DATA));
    expect(faults).toEqual([]);
    expect(decoded).toBeGreaterThan(150);
  });

  test('is opened as a data folder, answers as its own version did, and is written to', async () => {
    const dataFolder = join(folder.path, DATA);
    const keelson = await startKeelson({ dataFolder, env });
    try {
      expect(await use(keelson.http)).toEqual([]);
      // Its own snapshot is decrypted and decoded before it is accepted.
      await restoreAt(keelson.http, RESTORE, facts.root_token);
    } finally {
      await keelson.stop();
    }
    expect(readFileSync(join(dataFolder, 'keelson.log'), 'utf8')).not.toContain('is damaged');
    expect((await decodeFolder(dataFolder)).faults).toEqual([]);
  });

  test('is restored from its snapshot into SQLite', async () => {
    const fresh: KeelsonProcess = await startKeelson({
      dataFolder: join(folder.path, 'fresh'),
      env,
    });
    try {
      await makeRole(fresh.http, fresh.rootToken);
      await restore(fresh.http, fresh.rootToken);
      await expectEmptyAuth(fresh.http);
      expect(await use(fresh.http)).toEqual([]);
    } finally {
      await fresh.stop();
    }
    const again = await startKeelson({ dataFolder: fresh.dataFolder, env });
    try {
      await expectEmptyAuth(again.http);
    } finally {
      await again.stop();
    }
  });

  test('is published to a secondary, which answers as the primary did', async () => {
    await using nats = await startNats({ jetstream: true });
    await using _ = await relayTo(nats.port);
    await publishRecorded(nats.url, readFileSync(join(folder.path, STREAM), 'utf8'));
    const dataFolder = join(folder.path, SECONDARY);
    const secondary = await startKeelson({ dataFolder, env });
    try {
      const apiToken = facts.api_token;
      const follower = answersOf(secondary.http, { rootToken: '', apiToken });
      const rootToken = await generateRoot(follower, facts.unseal_keys);
      const calls = answersOf(secondary.http, { rootToken, apiToken });
      // This was made last.
      await until(
        () => calls.api('GET', 'account/details'),
        ({ body }) => body?.data?.attributes['unconfirmed-email'] === 'new@example.com',
      );
      for (const { of, method, path, answer } of answers) {
        if (of === 'v1' && !REPLICATED.includes(path)) continue;
        const { body } = await until(
          () => calls[of](method, path),
          ({ status }) => status < 300,
        );
        expect([path, body]).toMatchObject([path, answer]);
      }
      expect((await calls.v1('GET', 'sys/health')).body).not.toHaveProperty('damaged_records');
    } finally {
      await secondary.stop();
    }
    expect((await decodeFolder(dataFolder)).faults).toEqual([]);
  });

  test('is restored from its snapshot into PostgreSQL', async () => {
    const cluster = await startDistributed({
      postgres,
      redisUrl: redis.url,
      name: `golden_${name.replaceAll(/\W/g, '_')}`,
      // Otherwise the restored cluster would adopt a further token.
      settings: { workspace: { WORKSPACE_BOOTSTRAP_TOKEN: '' } },
    });
    try {
      const url = cluster.urls[0] ?? '';
      await makeRole(url, cluster.token);
      await restore(url, cluster.token);
      await expectEmptyAuth(url);
      expect(await use(url)).toEqual([]);
    } finally {
      await cluster.stop();
    }
  });
});
