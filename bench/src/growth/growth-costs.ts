/** Stores with a given number of records, and the cost of single operations on them. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  createBarrier,
  openBarrierFor,
  openSqliteStore,
  type Store,
  type WalEntry,
  type WalOperation,
} from '@keelson/storage';
import { collectGarbage } from '../collect-garbage.ts';
import { type InProcessAuthority, openAuthority } from '../in-process-authority.ts';
import { listing, measureCalls, type Scene, setScene } from '../workspace/workspace.ts';
import { COUNTED_ONCE, QUERIES, type Query, SELDOM } from '../workspace/workspace-names.ts';

export interface Size {
  readonly count: number;
  /** Seconds for which each cost is measured. */
  readonly seconds: number;
  /** Requests for each list. */
  readonly turns: number;
  /** Entries of another log, in each window. */
  readonly applied: number;
}

/** The CPU cost of one operation. */
export interface Cost {
  readonly name: string;
  /** Microseconds of CPU, over all threads, of one operation. */
  measure(): Promise<number>;
}

/** A store with the given number of records. */
export interface Filled {
  readonly costs: readonly Cost[];
  close(): Promise<void>;
}

/** How often each cost is measured, plus one first time, during which code is compiled. */
export const WINDOWS = 11;

const PER_TRANSACTION = 2000;
/** Entries that a secondary applies in one go. */
const PER_APPLY = 250;
/** Distance between records that are requested in sequence. */
const STRIDE = 7919;
/** Workspaces that are shown repeatedly, from the cache at every number of records. */
const SHOWN_AGAIN = 1000;
/** Workspaces per window, each shown for the first time. */
const SHOWN_FIRST = 1500;
/** The lists of a window take at least this fraction (1/n) of the time for one cost. */
const LISTS_SHARE = 25;

/** @param work resolves with the number of its operations */
const cpuOf = async (work: () => Promise<number>): Promise<number> => {
  const before = process.cpuUsage();
  const operations = await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / operations;
};

/** The cost of callers who each start an operation when their previous one has ended. */
const costOfCalls = (name: string, seconds: number, operation: () => Promise<unknown>): Cost => ({
  name,
  measure: async () => {
    const figure = await measureCalls(name, seconds / WINDOWS, operation);
    return figure.cpuMicrosecondsPerOperation ?? 0;
  },
});

/** The costs of an uncached and of a cached response. */
const costsOfShows = ({ workspaces, ids }: Scene, seconds: number): readonly Cost[] => {
  let turn = 0;
  // Not in the order of creation, and none twice: the stride is a prime number.
  const next = (among: number) =>
    workspaces.ask('GET', `/workspaces/${ids[((turn += 1) * STRIDE) % among] ?? ''}`);
  const perWindow = Math.min(SHOWN_FIRST, Math.floor(ids.length / (WINDOWS + 1)));
  return [
    {
      name: 'P7 show, for the first time',
      measure: () =>
        cpuOf(async () => {
          for (let shown = 0; shown < perWindow; shown += 1) await next(ids.length);
          return perWindow;
        }),
    },
    costOfCalls('P7 show, again', seconds, () => next(Math.min(SHOWN_AGAIN, ids.length))),
  ];
};

/**
 * A window has `turns / WINDOWS` lists, and more for cheap lists, so that the after-effects of a creation are
 * not counted as theirs.
 * @param isCountedOnce each of the few values once
 */
const costOfLists = (
  name: string,
  scene: Scene,
  query: Query,
  { count, turns, seconds }: Size,
  isCountedOnce: boolean,
): Cost => {
  const list = listing(scene, query, count);
  const lists = Math.ceil(turns / WINDOWS);
  const windowMs = isCountedOnce ? 0 : (seconds * 1000) / LISTS_SHARE;
  return {
    name,
    measure: async () => {
      await scene.create();
      return cpuOf(async () => {
        const startedMs = performance.now();
        let done = 0;
        for (; done < lists || performance.now() - startedMs < windowMs; done += 1) await list();
        return done;
      });
    },
  };
};

/** P7 and P8. */
export const fillWorkspaces = async (folder: string, size: Size): Promise<Filled> => {
  const { count, seconds } = size;
  const scene = await setScene(folder, count);
  const lists = Object.entries(QUERIES).flatMap(([name, query]) => {
    if (name === SELDOM) return [];
    if (!COUNTED_ONCE.includes(name))
      return [costOfLists(`P8 list ${name}`, scene, query, size, false)];
    return [
      costOfLists(`P8 list ${name}`, scene, query, size, true),
      // The same values as before.
      costOfLists(`P8 list ${name}, again`, scene, query, size, true),
    ];
  });
  return {
    costs: [
      costOfCalls('P7 create', seconds, scene.create),
      ...costsOfShows(scene, seconds),
      ...lists,
    ],
    close: () => scene.workspaces.stop(),
  };
};

/** P11: entries of a primary's log, encrypted as they come. */
export const fillCopy = async (folder: string, { count, applied }: Size): Promise<Filled> => {
  const barrier = createBarrier();
  const file = join(folder, 'store.db');
  const filling = await openSqliteStore({ file, barrier });
  await openBarrierFor(filling, barrier, new Uint8Array(32).fill(1));
  const value = Buffer.alloc(600, 'k');
  const newRecord = () => {
    const path = `shared/bench/${randomBytes(12).toString('hex')}`;
    return { path, stored: barrier.encrypt(path, value) };
  };
  for (let filled = 0; filled < count; filled += PER_TRANSACTION) {
    await filling.applyRecords('copy', Array.from({ length: PER_TRANSACTION }, newRecord));
  }
  await filling.close();
  collectGarbage();
  const store = await openSqliteStore({ file, barrier });
  let sequence = 0;
  const apply = async (operations: readonly WalOperation[]): Promise<void> => {
    const entries = operations.map(
      (operation): WalEntry => ({
        sequence: (sequence += 1),
        committedAtMs: 1,
        operations: [operation],
      }),
    );
    for (let at = 0; at < entries.length; at += PER_APPLY)
      await store.applyEntries('primary', entries.slice(at, at + PER_APPLY));
  };
  const applying: Cost = {
    name: 'P11 apply an entry',
    measure: async () => {
      const records = Array.from({ length: applied }, newRecord);
      const microseconds = await cpuOf(async () => {
        await apply(records);
        return applied;
      });
      // As many records as before.
      await apply(records.map(({ path }) => ({ path, stored: undefined })));
      return microseconds;
    },
  };
  return { costs: [applying], close: () => store.close() };
};

/** Copies of one certificate under other serial numbers. */
const fillWithCertificates = async (
  { store }: InProcessAuthority,
  issue: () => ReturnType<InProcessAuthority['call']>,
  count: number,
): Promise<void> => {
  const before = await store.wal.headSequence();
  const { data } = JSON.parse(Buffer.from(await issue()).toString()) as {
    data: { serial_number: string };
  };
  const key = data.serial_number.replaceAll(':', '-');
  const path = await findWritten(store, before, key);
  const stored = await store.read(path);
  if (stored === undefined) throw new Error(`no certificate ${key}`);
  const { value } = stored;
  for (let filled = 0; filled < count; filled += PER_TRANSACTION) {
    await store.transact((tx) => {
      for (let at = 0; at < PER_TRANSACTION; at += 1) {
        const octets = randomBytes(20).toString('hex').match(/../g) ?? [];
        tx.write(path.replace(key, octets.join('-')), value);
      }
    });
  }
};

/** The path that an entry after `sequence` wrote for the certificate. */
const findWritten = async (store: Store, sequence: number, key: string): Promise<string> => {
  for await (const { operations } of store.wal.follow(sequence, new AbortController().signal)) {
    const found = operations.find(({ path }) => path.endsWith(key));
    if (found !== undefined) return found.path;
  }
  throw new Error('the log has ended');
};

/** P1, without HTTP. */
export const fillAuthority = async (folder: string, { count, seconds }: Size): Promise<Filled> => {
  let authority = await openAuthority(folder);
  const root = { common_name: 'Bench Root', ttl: '87600h', key_type: 'ec' };
  await authority.call('POST', 'root/generate/internal', root);
  const role = { allowed_domains: 'example.com', allow_subdomains: true, key_type: 'ec' };
  await authority.call('POST', 'roles/bench', role);
  const issue = () =>
    authority.call('POST', 'issue/bench', { common_name: 'a.example.com', ttl: '72h' });
  await fillWithCertificates(authority, issue, count);
  await authority.close();
  collectGarbage();
  authority = await openAuthority(folder);
  return {
    costs: [costOfCalls('P1 issue, without HTTP', seconds, issue)],
    close: () => authority.close(),
  };
};
