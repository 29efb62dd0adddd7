/**
 * A release and the next one (`next-release/`): rolled out, rolled back, rolled out again and finished, on two
 * replicas of each service with PostgreSQL while clients write, with a standalone DR secondary on SQLite, and on the
 * golden stores.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  findBroken,
  type NatsServer,
  type PostgresServer,
  type RedisServer,
  startKeelson,
  startNats,
  startPostgres,
  startRedis,
  type TemporaryDirectory,
  temporaryDirectory,
  WriteLedger,
} from '@keelson/testkit';
import { type DistributedCluster, startDistributed } from '@keelson/testkit/distributed-cluster';
import {
  attach,
  type Cluster,
  startCluster,
  until,
  untilEqual,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goldenCalls } from './golden/golden-calls.ts';
import { writeToEachArea } from './golden/golden-contents.ts';
import { DATA, goldenNames, loadAnswers, unpackGolden } from './golden/golden-stores.ts';

const WITHIN_MS = 600_000;
const PRELOAD = new URL('next-release/next-release.ts', import.meta.url).href;
const CLI = join(import.meta.dirname, '../../cli/src/main.ts');
const POLICY = 'path "pki/*" {\n  capabilities = ["read"]\n}';
const SERVICES = ['sys', 'pki', 'workspace'] as const;

type Release = 'this' | 'next';

let folder: TemporaryDirectory;
let marker: string;
const former = process.env['NODE_OPTIONS'];

/** The release of every process that starts from now on. */
const startAs = (release: Release): void => {
  if (release === 'next') writeFileSync(marker, '');
  else rmSync(marker, { force: true });
};

beforeAll(async () => {
  folder = await temporaryDirectory();
  marker = join(folder.path, 'next');
  process.env['NEXT_RELEASE'] = marker;
  process.env['NODE_OPTIONS'] = `${former ?? ''} --import=${PRELOAD}`;
});
afterAll(async () => {
  if (former === undefined) delete process.env['NODE_OPTIONS'];
  else process.env['NODE_OPTIONS'] = former;
  await folder[Symbol.asyncDispose]();
});

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
  const ledger = new WriteLedger();
  const failures: string[] = [];
  let stopClients: (() => Promise<void>) | undefined;

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
        replicas: { sys: 2, pki: 2, workspace: 2 },
        settings: Object.fromEntries(SERVICES.map((service) => [service, { NATS_URL: nats.url }])),
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
    stopClients = startClients();
  }, WITHIN_MS);
  afterAll(async () => {
    await stopClients?.();
    for (const one of [primary, spare, nats, redis, postgres])
      if (one !== undefined) await ('stop' in one ? one.stop() : one[Symbol.asyncDispose]());
  }, WITHIN_MS);

  const seen = async (what: string, answer: Promise<{ status: number; body: unknown }>) => {
    const { status, body } = await answer;
    if (status >= 500) failures.push(`${what}: ${status} ${JSON.stringify(body)}`);
    return status;
  };
  const document = (type: string, attributes: object) => ({ data: { type, attributes } });
  const projectIds = new Map<string, string>();

  /** One record of each kind that the next release changes, in turn. */
  const write = async (key: string, turn: number): Promise<number> => {
    switch (turn % 4) {
      case 0:
        return seen(key, primary.v1('POST', `sys/policies/acl/${key}`, { policy: POLICY }));
      case 1: {
        const role = { allow_any_name: true, key_type: 'ec' };
        return seen(key, primary.v1('POST', `pki/roles/${key}`, role));
      }
      case 2: {
        const attributes = { name: key, email: 'a@b.example' };
        return seen(
          key,
          primary.api('POST', 'organizations', document('organizations', attributes)),
        );
      }
      default: {
        const path = `organizations/${key.replace(/\d+$/, String(turn - 1))}/projects`;
        const answer = primary.api('POST', path, document('projects', { name: key }));
        const { status, body } = await answer;
        if (status === 201) projectIds.set(key, body.data.id);
        return seen(key, Promise.resolve({ status, body }));
      }
    }
  };

  /** Keys are used once. */
  let rounds = 0;

  const startClients = () => {
    let isStopped = false;
    const round = rounds++;
    const clients = ['a', 'b'].map(async (name) => {
      for (let turn = 0; !isStopped; turn += 1) {
        const key = `${name}${round}-${turn}`;
        await ledger.attempt(key, () => write(key, turn));
        await seen('list', primary.api('GET', 'organizations?page[size]=1'));
      }
    });
    return async (): Promise<void> => {
      isStopped = true;
      await Promise.all(clients);
    };
  };

  const writesMore = async (): Promise<void> => {
    const { length } = ledger.acknowledged;
    await until(
      async () => ledger.acknowledged.length,
      (count) => count > length + 16,
    );
  };

  /** Replaces the first replica of each service, and then the second. */
  const roll = async (release: Release): Promise<void> => {
    startAs(release);
    for (const at of [0, 1]) {
      await Promise.all(
        SERVICES.map(async (service) => {
          await primary.processes[service][at]?.restart();
        }),
      );
      await writesMore();
    }
  };

  const namesOf = async (
    path: string,
    toName: (item: { readonly id: string }) => string,
  ): Promise<readonly string[]> => {
    const names: string[] = [];
    for (let page: number | null = 1; page !== null; ) {
      const { body } = await primary.api('GET', `${path}?page[size]=100&page[number]=${page}`);
      names.push(...body.data.map(toName));
      page = body.meta.pagination['next-page'];
    }
    return names;
  };
  const held = async (): Promise<ReadonlySet<string>> => {
    const policies = await primary.v1('LIST', 'sys/policies/acl');
    const roles = await primary.v1('LIST', 'pki/roles');
    const organizations = await namesOf('organizations', ({ id }) => id);
    const listed = await Promise.all(
      organizations.map((name) => namesOf(`organizations/${name}/projects`, ({ id }) => id)),
    );
    const ids = new Set(listed.flat());
    const projects = [...projectIds].flatMap(([key, id]) => (ids.has(id) ? [key] : []));
    return new Set([
      ...policies.body.data.keys,
      ...roles.body.data.keys,
      ...organizations,
      ...projects,
    ]);
  };

  const rootOf = async (cluster: Pick<Cluster, 'status'>): Promise<string> =>
    (await cluster.status('dr'))?.merkle_root as string;

  /** Compares everything that was acknowledged, the tables and the secondary while nobody writes. */
  const expectNothingLost = async (): Promise<void> => {
    await stopClients?.();
    try {
      await compareAll();
    } finally {
      stopClients = startClients();
    }
  };

  const compareAll = async (): Promise<void> => {
    await untilStreaming('dr', spare);
    expect(failures).toEqual([]);
    expect(ledger.unknown).toEqual([]);
    expect(ledger.refused).toEqual([]);
    const roots = { spare: [() => rootOf(primary), () => rootOf(spare)] } as const;
    expect(await findBroken({ ledger, held: await held(), roots })).toEqual([]);
    const { body } = await primary.v1('POST', 'sys/replication/merkle-check');
    expect(JSON.stringify(body.data)).toContain('"corrupted_tables":[]');
    expect(JSON.stringify(body.data)).not.toMatch(/"corrupted_tables":\["/);
  };

  let project = '';
  const projectOf = async () => (await primary.api('GET', `projects/${project}`)).body.data;

  test('loses nothing, refuses nobody and leaves no wrong row', async () => {
    await writesMore();
    const attributes = { name: 'described', description: 'by this release' };
    const made = await primary.api(
      'POST',
      'organizations/a0-2/projects',
      document('projects', attributes),
    );
    project = made.body.data.id;
    startAs('next');
    await spare.restart();
    await untilStreaming('dr', spare);
    await roll('next');
    expect((await primary.v1('GET', 'sys/upgrade')).body.data.pending).toEqual({
      sys: ['shared/policies'],
      pki: ['shared,local/mounts/*/roles'],
      workspace: expect.arrayContaining(['shared/organizations', 'shared/projects']),
    });
    await expectNothingLost();
  });

  test('is rolled back, and the release before finds every record as it knows it', async () => {
    const renamed = document('projects', { name: 'renamed by the next' });
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
    for (const service of SERVICES)
      expect(out).toMatch(new RegExp(`${service} +\\d+ records +[1-9]\\d* rewritten`));
    const { body } = await primary.v1('GET', 'sys/upgrade');
    expect(body.data.pending).toEqual({ sys: [], pki: [], workspace: [] });
    await writesMore();
    await expectNothingLost();
    // All are rewritten already.
    const again = await finishUpgrade(primary.urls[0] ?? '', primary.token);
    expect(again.match(/ 0 rewritten/g)).toHaveLength(3);
    startAs('this');
    await expect(primary.processes.workspace[0]?.restart()).rejects.toThrow('another version');
    await expectNothingLost();
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
