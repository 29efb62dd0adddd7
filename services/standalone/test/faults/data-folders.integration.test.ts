/**
 * Data folders in which something is missing, damaged or left over, as real processes find them: a start
 * that is refused names the file and changes nothing, and none replaces what may hold data.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createBarrier, openSqliteStore } from '@keelson/storage';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { callsOf } from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { STORE_SERVICES } from '../../src/first-start.ts';

let base: TemporaryDirectory;
/** Data folder of a cluster that was killed: its newest commits are in SQLite's logs. */
let kept: string;
/** Data folder of another one, which was stopped. */
let other: string;
let copies = 0;

const callsTo = (keelson: KeelsonProcess) =>
  callsOf(
    () => keelson.http,
    () => keelson.rootToken,
    keelson.apiToken,
  );

const createKept = async (keelson: KeelsonProcess): Promise<void> => {
  const { v1, api } = callsTo(keelson);
  const attributes = { name: 'kept', email: 'kept@example.com' };
  const made = [
    await v1('POST', 'sys/mounts/pki', { type: 'pki' }),
    await v1('POST', 'pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' }),
    await api('POST', 'organizations', { data: { type: 'organizations', attributes } }),
  ];
  expect(made.map(({ status }) => status)).toEqual([204, 200, 201]);
};

/** Status of what `createKept` made. */
const readKept = async (keelson: KeelsonProcess): Promise<readonly number[]> => {
  const { v1, api } = callsTo(keelson);
  const read = [
    await v1('GET', 'sys/mounts/pki'),
    await v1('LIST', 'pki/issuers'),
    await api('GET', 'organizations/kept'),
  ];
  return read.map(({ status }) => status);
};
const ALL_THERE = [200, 200, 200];

const positionsIn = (folder: string): Readonly<Record<string, number>> =>
  JSON.parse(readFileSync(join(folder, 'store-positions.json'), 'utf8'));

/** Resolves when later positions than `before` are recorded for every store. */
const positionsAfter = (folder: string, before: Readonly<Record<string, number>>): Promise<void> =>
  new Promise((resolve) => {
    const isLater = (): boolean =>
      Object.entries(positionsIn(folder)).every(
        ([name, position]) => position > (before[name] ?? 0),
      );
    const check = (): void => {
      if (!isLater()) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(folder, check);
    check();
  });

beforeAll(async () => {
  base = await temporaryDirectory();
  kept = join(base.path, 'kept');
  // Stopped once, so that the logs hold only what came later.
  await (await startKeelson({ dataFolder: kept })).stop();
  const before = positionsIn(kept);
  const keelson = await startKeelson({ dataFolder: kept });
  await createKept(keelson);
  await positionsAfter(kept, before);
  await keelson.stop('SIGKILL');
  other = join(base.path, 'other');
  await (await startKeelson({ dataFolder: other })).stop();
});
afterAll(() => base[Symbol.asyncDispose]());

const copyOfKept = (): string => {
  copies += 1;
  const folder = join(base.path, `copy-${copies}`);
  cpSync(kept, folder, { recursive: true });
  return folder;
};

/** Files of the process rather than the cluster: its log and the lock of the folder. */
const isOfProcess = (name: string): boolean => name === 'keelson.log' || name === 'lock.sqlite';

/** A file of a store with its logs, and without. */
const withLogs = (file: string): readonly string[] => [file, `${file}-wal`, `${file}-shm`];

/** Name and digest of every file of the cluster. */
const contentOf = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => !isOfProcess(name) && statSync(join(folder, name)).isFile())
      .sort()
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      ]),
  );

const refusalOf = async (dataFolder: string): Promise<string> => {
  try {
    const started = await startKeelson({ dataFolder });
    await started.stop();
    return 'it started';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const NEWER_RECORDS = {
  sys: { 'shared/policies': 99 },
  pki: { 'shared,local/mounts/*/roles': 99 },
  workspace: { 'shared/organizations': 99 },
  auth: { 'shared,local/mounts/*/approle/roles': 99 },
} as const;

/** Changes a store and ends as if killed, so that the change is in its log. */
const changeHead = (file: string, change: string): void => {
  const database = new DatabaseSync(file);
  database.exec(`UPDATE head SET ${change}`);
  const files = withLogs(file).map((one) => [one, readFileSync(one)] as const);
  database.close();
  for (const [one, content] of files) writeFileSync(one, content);
};

describe('a data folder in which', () => {
  const remove =
    (...names: readonly string[]) =>
    (folder: string) => {
      for (const name of names) rmSync(join(folder, name));
    };
  test.for([
    ['sys.sqlite is missing', remove('sys.sqlite'), 'sys.sqlite'],
    ['pki.sqlite is missing', remove('pki.sqlite'), 'pki.sqlite'],
    ['workspace.sqlite is missing', remove('workspace.sqlite'), 'workspace.sqlite'],
    ['auth.sqlite is missing', remove('auth.sqlite'), 'auth.sqlite'],
    ['unseal.key is missing', remove('unseal.key'), 'unseal.key'],
    [
      'all stores and the key are missing',
      remove(...STORE_SERVICES.map((service) => `${service}.sqlite`), 'unseal.key'),
      'sys.sqlite',
    ],
    [
      'workspace.sqlite was emptied',
      (folder: string) => writeFileSync(join(folder, 'workspace.sqlite'), ''),
      'workspace.sqlite',
    ],
    ...STORE_SERVICES.flatMap((service) => {
      const name = `${service}.sqlite`;
      return [
        [
          `${name} is no database`,
          (folder: string) => writeFileSync(join(folder, name), 'x'.repeat(5000)),
          name,
        ],
        [
          `${name} is damaged`,
          (folder: string) => {
            const bytes = readFileSync(join(folder, name));
            rmSync(join(folder, `${name}-wal`));
            writeFileSync(join(folder, name), bytes.fill(0xff, 100, 4096));
          },
          name,
        ],
        [
          `${name} is of another format`,
          (folder: string) => changeHead(join(folder, name), 'format = 99'),
          name,
        ],
        [
          `${name} is of an older format`,
          (folder: string) => changeHead(join(folder, name), 'format = 0'),
          name,
        ],
        [
          `${name} has records of a newer version`,
          (folder: string) =>
            changeHead(
              join(folder, name),
              `record_versions = '${JSON.stringify(NEWER_RECORDS[service])}'`,
            ),
          name,
        ],
      ] as const;
    }),
    ...STORE_SERVICES.map(
      (service) =>
        [
          `${service}.sqlite is that of another cluster`,
          (folder: string) => {
            for (const file of withLogs(`${service}.sqlite`))
              rmSync(join(folder, file), { force: true });
            cpSync(join(other, `${service}.sqlite`), join(folder, `${service}.sqlite`));
          },
          `${service}.sqlite`,
        ] as const,
    ),
    ...STORE_SERVICES.map(
      (service) =>
        [
          `${service}.sqlite is a store with nothing in it`,
          async (folder: string) => {
            const file = join(folder, `${service}.sqlite`);
            for (const name of withLogs(file)) rmSync(name, { force: true });
            await (await openSqliteStore({ file, barrier: createBarrier() })).close();
          },
          `${service}.sqlite`,
        ] as const,
    ),
    ...STORE_SERVICES.flatMap((service) => {
      const name = `${service}.sqlite`;
      return [
        [`${name}-wal is missing`, remove(`${name}-wal`), `${name}: it ends with commit`],
        [
          `${name}-wal was cut`,
          (folder: string) => {
            const file = join(folder, `${name}-wal`);
            // Less than one page of it.
            truncateSync(file, 4000);
          },
          `KEELSON_ACCEPT_LOST_COMMITS=${service}:`,
        ],
      ] as const;
    }),
    [
      'two stores were swapped',
      (folder: string) => {
        const [pki, workspace, kept] = ['pki.sqlite', 'workspace.sqlite', 'kept.sqlite'];
        for (const [from, to] of [
          [pki, kept],
          [workspace, pki],
          [kept, workspace],
        ] as const)
          for (const suffix of ['', '-wal', '-shm'])
            renameSync(join(folder, from + suffix), join(folder, to + suffix));
      },
      'pki.sqlite: it is the store of workspace',
    ],
    [
      'all logs are missing',
      remove(...STORE_SERVICES.map((service) => `${service}.sqlite-wal`)),
      'sys.sqlite: it ends with commit',
    ],
    [
      'store-positions.json holds something else',
      (folder: string) => writeFileSync(join(folder, 'store-positions.json'), '{"sys":"x"}'),
      'store-positions.json',
    ],
    [
      'unseal.key is that of another cluster',
      (folder: string) =>
        writeFileSync(join(folder, 'unseal.key'), randomBytes(32).toString('base64')),
      'unseal.key',
    ],
    [
      'unseal.key holds no key',
      (folder: string) => writeFileSync(join(folder, 'unseal.key'), 'not a key'),
      'unseal.key',
    ],
  ] as const)('%s is refused, and no file is changed', async ([, change, named]) => {
    const folder = copyOfKept();
    await change(folder);
    const before = contentOf(folder);
    const refusal = await refusalOf(folder);
    expect(refusal).toContain('keelson cannot start');
    expect(refusal).toContain(named);
    expect(refusal).toContain('Nothing was changed. ');
    expect(contentOf(folder)).toEqual(before);
  });

  test('a store was replaced by a wrong file loses nothing once the right one is back', async () => {
    const folder = copyOfKept();
    const file = join(folder, 'workspace.sqlite');
    cpSync(join(other, 'first-run.json'), file);
    expect(await refusalOf(folder)).toContain(`${file}: the store is damaged`);
    cpSync(join(kept, 'workspace.sqlite'), file);
    const keelson = await startKeelson({ dataFolder: folder });
    expect(await readKept(keelson)).toEqual(ALL_THERE);
    await keelson.stop();
  });

  test('a log is missing starts once its lost commits are accepted, and later without a word', async () => {
    const folder = copyOfKept();
    rmSync(join(folder, 'workspace.sqlite-wal'));
    const accepted = /KEELSON_ACCEPT_LOST_COMMITS=(workspace:\d+)\./.exec(
      await refusalOf(folder),
    )?.[1];
    const env = { KEELSON_ACCEPT_LOST_COMMITS: accepted ?? '' };
    const keelson = await startKeelson({ dataFolder: folder, env });
    expect(await readKept(keelson)).toEqual([200, 200, 404]);
    await keelson.stop('SIGKILL');
    const again = await startKeelson({ dataFolder: folder });
    await again.stop();
  });

  test('store-positions.json is missing, as in one of an earlier version, starts', async () => {
    const folder = copyOfKept();
    rmSync(join(folder, 'store-positions.json'));
    const keelson = await startKeelson({ dataFolder: folder });
    expect(await readKept(keelson)).toEqual(ALL_THERE);
    await keelson.stop();
    expect(Object.keys(positionsIn(folder)).sort()).toEqual(STORE_SERVICES.toSorted());
  });

  test('the marker of the first start reappeared, as by a power cut, keeps everything', async () => {
    const folder = copyOfKept();
    writeFileSync(join(folder, 'first-start-unfinished'), '');
    const keelson = await startKeelson({ dataFolder: folder });
    expect(await readKept(keelson)).toEqual(ALL_THERE);
    await keelson.stop();
  });
});

test('the files of a cluster are readable only by their owner, except the CA certificate', () => {
  const readable = Object.keys(contentOf(kept)).filter(
    (name) => (statSync(join(kept, name)).mode & 0o077) !== 0,
  );
  expect(readable).toEqual(['tls/ca.pem']);
});

test('a data folder that is a file is refused with its name, before a log is opened in it', async () => {
  const file = join(base.path, 'file');
  writeFileSync(file, 'kept');
  expect(await refusalOf(file)).toContain(`KEELSON_DATA_DIR: the data folder ${file} is a file`);
  expect(readFileSync(file, 'utf8')).toBe('kept');
});
