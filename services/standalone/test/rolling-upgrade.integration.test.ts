/**
 * A release and the next one (`next-release/`): rolled out, rolled back, rolled out again and finished, on two
 * replicas of each service with PostgreSQL while clients write, with a standalone DR secondary on SQLite, in one process
 * with SQLite and a performance secondary, and on the golden stores.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type NatsServer,
  type PostgresServer,
  type RedisServer,
  runSources,
  startKeelson,
  startNats,
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
import {
  attach,
  type Cluster,
  generateRoot,
  type Kind,
  startCluster,
  until,
  untilEqual,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goldenCalls } from './golden/golden-calls.ts';
import { writeToEachArea } from './golden/golden-contents.ts';
import { DATA, goldenNames, loadAnswers, unpackGolden } from './golden/golden-stores.ts';
import { resourceOf, UpgradeLoad } from './next-release/upgrade-load.ts';

const WITHIN_MS = 600_000;
const PRELOAD = new URL('next-release/next-release.ts', import.meta.url).href;
const CLI = join(import.meta.dirname, '../../cli/src/main.ts');
const PERFORMANCE = 'sys/replication/performance';

/** Services of which the next release changes records. */
const UPGRADED = ['sys', 'pki', 'workspace'] as const;

type Release = 'this' | 'next';

let folder: TemporaryDirectory;
let marker: string;
const former = process.env['NODE_OPTIONS'];

/** The release of every process that starts from now on. */
const startAs = (release: Release): void => {
  if (release === 'next') writeFileSync(marker, '');
  else rmSync(marker, { force: true });
};

/** The next release replaces sources. */
let sources: Disposable;

beforeAll(async () => {
  sources = runSources();
  folder = await temporaryDirectory();
  marker = join(folder.path, 'next');
  process.env['NEXT_RELEASE'] = marker;
  process.env['NODE_OPTIONS'] = `${former ?? ''} --import=${PRELOAD}`;
});
afterAll(async () => {
  sources[Symbol.dispose]();
  if (former === undefined) delete process.env['NODE_OPTIONS'];
  else process.env['NODE_OPTIONS'] = former;
  await folder[Symbol.asyncDispose]();
});

const isSameAs =
  (...expected: readonly string[]) =>
  (kinds: readonly string[]): boolean =>
    kinds.toSorted().join() === expected.join();

const rootOf = async (kind: Kind, cluster: Pick<Cluster, 'status'>): Promise<string> =>
  (await cluster.status(kind))?.merkle_root as string;

const finishUpgrade = async (http: string, token: string): Promise<string> => {
  const env = { ...process.env, KEELSON_ADDR: http, KEELSON_TOKEN: token };
  const ended = await promisify(execFile)(process.execPath, [CLI, 'doctor', '--upgrade'], {
    env,
  });
  return ended.stdout;
};

describe('a rolling upgrade of two replicas while clients write', { timeout: WITHIN_MS }, () => {
  let postgres: PostgresServer;
  let redis: RedisServer;
  let nats: NatsServer;
  let primary: DistributedCluster;
  let spare: Cluster;
  let load: UpgradeLoad;

  beforeAll(async () => {
    [postgres, redis, nats] = await Promise.all([
      startPostgres({ settings: { max_connections: '300' } }),
      startRedis(),
      startNats({ jetstream: true }),
    ]);
    [primary, spare] = await Promise.all([
      startDistributed({
        postgres,
        redisUrl: redis.url,
        name: 'rolled',
        replicas: ofEachService(2),
        settings: ofEachService({ NATS_URL: nats.url }),
      }),
      startCluster(nats.url),
    ]);
    await until(
      () => primary.v1('POST', 'sys/mounts/pki', { type: 'pki' }),
      ({ status }) => status === 204,
    );
    await primary.v1('POST', 'sys/replication/dr/primary/enable');
    await attach('dr', primary, spare, 'spare');
    await untilEqual('dr', primary, spare);
    load = new UpgradeLoad(primary);
    load.start();
  }, WITHIN_MS);
  afterAll(async () => {
    await load?.stop();
    for (const one of [primary, spare, nats, redis, postgres])
      if (one !== undefined) await ('stop' in one ? one.stop() : one[Symbol.asyncDispose]());
  }, WITHIN_MS);

  /** Replaces the first replica of each service and, once those serve, the second. */
  const roll = async (release: Release): Promise<void> => {
    startAs(release);
    for (const at of [0, 1]) {
      await Promise.all(
        DISTRIBUTED_SERVICES.map(async (service) => {
          await primary.processes[service][at]?.restart();
        }),
      );
      await load.writesMore();
    }
  };

  const expectNothingLost = async (): Promise<void> => {
    await untilStreaming('dr', spare);
    const roots = [() => rootOf('dr', primary), () => rootOf('dr', spare)] as const;
    expect(await load.findWrong(roots)).toEqual([]);
    expect(load.ledger.unknown).toEqual([]);
  };

  let project = '';
  const projectOf = async () => (await primary.api('GET', `projects/${project}`)).body.data;

  test('loses nothing, refuses nobody and leaves no wrong row', async () => {
    await load.writesMore();
    const attributes = { name: 'described', description: 'by this release' };
    const made = await primary.api(
      'POST',
      'organizations/a0-0/projects',
      resourceOf('projects', attributes),
    );
    project = made.body.data.id;
    startAs('next');
    await spare.restart();
    await untilStreaming('dr', spare);
    await roll('next');
    expect((await primary.v1('GET', 'sys/upgrade')).body.data.pending).toEqual({
      sys: expect.toSatisfy(isSameAs('shared/policies', 'shared/token-roles')),
      pki: expect.toSatisfy(isSameAs('local/acme/*/eab', 'shared,local/mounts/*/roles')),
      workspace: expect.arrayContaining([
        'shared/organizations',
        'shared/projects',
        'shared/teams',
      ]),
      auth: [],
    });
    await expectNothingLost();
  });

  test('is rolled back, and the release before finds every record as it knows it', async () => {
    const renamed = resourceOf('projects', { name: 'renamed by the next' });
    expect((await primary.api('PATCH', `projects/${project}`, renamed)).status).toBe(200);
    await roll('this');
    await spare.restart();
    await untilStreaming('dr', spare);
    expect((await projectOf()).attributes).toMatchObject({
      name: 'renamed by the next',
      description: 'by this release',
    });
    await expectNothingLost();
  });

  test('is finished by hand, after which the release before is refused', async () => {
    startAs('next');
    await spare.restart();
    await roll('next');
    const out = await finishUpgrade(primary.urls[0] ?? '', primary.token);
    for (const service of UPGRADED)
      expect(out).toMatch(new RegExp(`${service} +\\d+ records +[1-9]\\d* rewritten`));
    const { body } = await primary.v1('GET', 'sys/upgrade');
    expect(body.data.pending).toEqual(ofEachService([]));
    await load.writesMore();
    await expectNothingLost();
    // All are rewritten already.
    const again = await finishUpgrade(primary.urls[0] ?? '', primary.token);
    expect(again.match(/ 0 rewritten/g)).toHaveLength(DISTRIBUTED_SERVICES.length);
    startAs('this');
    await expect(primary.processes.workspace[0]?.restart()).rejects.toThrow('another version');
    await expectNothingLost();
  });
});

describe('an upgrade of one process with SQLite while clients write', {
  timeout: WITHIN_MS,
}, () => {
  let nats: NatsServer;
  let primary: Cluster;
  let branch: Cluster;
  let load: UpgradeLoad;

  beforeAll(async () => {
    startAs('this');
    nats = await startNats({ jetstream: true });
    [primary, branch] = await Promise.all([startCluster(nats.url), startCluster(nats.url)]);
    await primary.v1('POST', 'sys/mounts/pki', { type: 'pki' });
    await primary.v1('POST', `${PERFORMANCE}/primary/enable`, {});
    await attach('performance', primary, branch, 'branch');
    branch.token = await generateRoot(branch, primary.shares);
    await untilEqual('performance', primary, branch);
    load = new UpgradeLoad(primary);
    load.start();
  }, WITHIN_MS);
  afterAll(async () => {
    await load?.stop();
    for (const one of [primary, branch, nats])
      if (one !== undefined) await ('stop' in one ? one.stop() : one[Symbol.asyncDispose]());
  }, WITHIN_MS);

  const restartBoth = async (release: Release): Promise<void> => {
    startAs(release);
    const clusters = release === 'next' ? [branch, primary] : [primary, branch];
    for (const cluster of clusters) {
      await load.writesMore();
      await cluster.restart();
    }
    await load.writesMore();
  };
  const expectNothingLost = async (): Promise<void> => {
    await untilStreaming('performance', branch);
    const roots = [
      () => rootOf('performance', primary),
      () => rootOf('performance', branch),
    ] as const;
    expect(await load.findWrong(roots)).toEqual([]);
  };
  const pendingOf = async (
    cluster: Cluster,
  ): Promise<Readonly<Record<string, readonly string[]>>> =>
    (await cluster.v1('GET', 'sys/upgrade')).body.data.pending;

  test('loses nothing, is taken back, and is made again', async () => {
    await restartBoth('next');
    await expectNothingLost();
    await restartBoth('this');
    await expectNothingLost();
    await restartBoth('next');
    await expectNothingLost();
    expect(load.ledger.acknowledged.length).toBeGreaterThan(9 * 24);
  });

  test('is finished on the secondary first, which says after its promotion what is left', async () => {
    await finishUpgrade(branch.process().http, branch.token);
    expect(await pendingOf(branch)).toEqual(ofEachService([]));
    await load.writesMore();
    await expectNothingLost();
    await load.stop();
    await untilEqual('performance', primary, branch);
    expect((await primary.v1('POST', `${PERFORMANCE}/primary/demote`)).status).toBe(200);
    await until(
      () => branch.v1('POST', `${PERFORMANCE}/secondary/promote`),
      ({ status }) => status === 200,
    );
    const pending = await until(
      () => pendingOf(branch),
      ({ workspace }) => workspace !== undefined && workspace.length > 0,
    );
    expect(pending).toEqual({
      sys: ['shared/token-roles'],
      pki: [],
      workspace: expect.toSatisfy(
        isSameAs('shared/projects', 'shared/teams', 'shared/teams~initial'),
      ),
      auth: [],
    });
    await finishUpgrade(branch.process().http, branch.token);
    expect(await pendingOf(branch)).toEqual(ofEachService([]));
  });
});

describe.each(goldenNames())('the golden store %s', { timeout: WITHIN_MS }, (name) => {
  test('is read and written by the next release, taken back, and upgraded', async () => {
    const place = join(folder.path, name);
    mkdirSync(place);
    unpackGolden(name, place);
    const answers = loadAnswers(place);
    const dataFolder = join(place, DATA);
    const facts = JSON.parse(readFileSync(join(dataFolder, 'first-run.json'), 'utf8'));
    const expectSame = async (calls: ReturnType<typeof goldenCalls>): Promise<void> => {
      for (const { of, method, path, answer } of answers)
        expect([path, await calls[of](method, path)]).toMatchObject([path, answer]);
    };
    const as = async (
      release: Release,
      use: (calls: ReturnType<typeof goldenCalls>, http: string) => Promise<void>,
    ): Promise<void> => {
      startAs(release);
      const keelson = await startKeelson({ dataFolder, env: { KEELSON_RATE_LIMIT: 'off' } });
      const { root_token: rootToken, api_token: apiToken } = facts;
      try {
        await use(goldenCalls(keelson.http, { rootToken, apiToken }), keelson.http);
      } finally {
        await keelson.stop();
      }
    };
    await as('next', expectSame);
    await as('this', expectSame);
    await as('next', async (calls, http) => {
      await finishUpgrade(http, facts.root_token);
      await expectSame(calls);
      expect(await writeToEachArea(calls)).toEqual([]);
    });
    startAs('this');
    await expect(startKeelson({ dataFolder })).rejects.toThrow('another version of Keelson');
    await as('next', async (calls) => {
      expect(await calls.v1('GET', 'sys/health')).not.toHaveProperty('damaged_records');
    });
  });
});
