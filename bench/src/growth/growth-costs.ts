/** What one operation costs in a store that holds a given number of records. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  createBarrier,
  openBarrierFor,
  openSqliteStore,
  type Store,
  type WalEntry,
} from '@keelson/storage';
import { finishFilling } from '../finish-filling.ts';
import { type InProcessAuthority, openAuthority } from '../in-process-authority.ts';
import { listing, measureCalls, type Scene, setScene } from '../workspace/workspace.ts';
import { COUNTED_ONCE, QUERIES, type Query, SELDOM } from '../workspace/workspace-names.ts';

export interface Size {
  readonly count: number;
  readonly seconds: number;
  /** Of each list. */
  readonly turns: number;
  /** Entries of another log. */
  readonly applied: number;
}

export interface Cost {
  readonly name: string;
  /** CPU of all threads. */
  readonly microseconds: number;
}

const PER_TRANSACTION = 2000;
/** Entries that a secondary applies in one go. */
const PER_APPLY = 250;
/** Between records that are asked for one after the other. */
const STRIDE = 7919;

const cpuOf = async (operations: number, work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / operations;
};

const WINDOWS = 5;

/**
 * The median of some windows: other work on the machine makes some of them dearer. What runs first in
 * a process is compiled while it runs, so one window before is not counted.
 */
const medianOf = async (measure: () => Promise<number>): Promise<number> => {
  await measure();
  const costs: number[] = [];
  for (let window = 0; window < WINDOWS; window += 1) costs.push(await measure());
  return costs.sort((a, b) => a - b)[Math.floor(WINDOWS / 2)] ?? 0;
};

/** Of callers who each begin the next when the last has ended. */
const measureCost = (
  name: string,
  seconds: number,
  operation: () => Promise<unknown>,
): Promise<number> =>
  medianOf(async () => {
    const figure = await measureCalls(name, seconds / WINDOWS, operation);
    return figure.cpuMicrosecondsPerOperation ?? 0;
  });

/** Shown again and again: answers that are remembered at every number of records. */
const SHOWN_AGAIN = 1000;
/** Of the time that one cost is measured for, what the lists of a window take at least. */
const LISTS_SHARE = 5;
/** Of a window, each for the first time. */
const SHOWN_FIRST = 1500;

/** An answer that is made, and one that is remembered. */
const measureShows = async ({ workspaces, ids }: Scene, seconds: number): Promise<Cost[]> => {
  let turn = 0;
  // In another order than they were made in, none twice: the stride is a prime number.
  const next = (among: number) =>
    workspaces.call('GET', `/workspaces/${ids[((turn += 1) * STRIDE) % among] ?? ''}`);
  const perWindow = Math.min(SHOWN_FIRST, Math.floor(ids.length / (WINDOWS + 1)));
  const first = await medianOf(() =>
    cpuOf(perWindow, async () => {
      for (let shown = 0; shown < perWindow; shown += 1) await next(ids.length);
    }),
  );
  const again = await measureCost('P7 show again', seconds, () =>
    next(Math.min(SHOWN_AGAIN, ids.length)),
  );
  return [
    { name: 'P7 show, for the first time', microseconds: first },
    { name: 'P7 show, again', microseconds: again },
  ];
};

/**
 * A window is of `turns / WINDOWS` lists, and of those that cost little as many more as it takes for what
 * a creation leaves to be done not to be counted as theirs.
 * @param isCountedOnce each of the few values once
 */
const measureLists = (
  scene: Scene,
  query: Query,
  { count, turns, seconds }: Size,
  isCountedOnce: boolean,
): Promise<number> => {
  const list = listing(scene, query, count);
  const lists = Math.ceil(turns / WINDOWS);
  const windowMs = isCountedOnce ? 0 : (seconds * 1000) / WINDOWS / LISTS_SHARE;
  return medianOf(async () => {
    await scene.create();
    const before = process.cpuUsage();
    const startedMs = performance.now();
    let done = 0;
    while (done < lists || performance.now() - startedMs < windowMs) {
      await list();
      done += 1;
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / done;
  });
};

/** P7 and P8. */
export const measureWorkspaces = async (folder: string, size: Size): Promise<readonly Cost[]> => {
  const { count, seconds } = size;
  const scene = await setScene(folder, count);
  const costs: Cost[] = [
    { name: 'P7 create', microseconds: await measureCost('P7 create', seconds, scene.create) },
    ...(await measureShows(scene, seconds)),
  ];
  for (const [name, query] of Object.entries(QUERIES)) {
    if (name === SELDOM) continue;
    const isCountedOnce = COUNTED_ONCE.includes(name);
    costs.push({
      name: `P8 list ${name}`,
      microseconds: await measureLists(scene, query, size, isCountedOnce),
    });
    if (!isCountedOnce) continue;
    // The same values as before.
    const microseconds = await measureLists(scene, query, size, isCountedOnce);
    costs.push({ name: `P8 list ${name}, again`, microseconds });
  }
  await scene.workspaces.stop();
  return costs;
};

/** P11: entries of a primary's log, encrypted as they come. */
export const measureApply = async (
  folder: string,
  { count, applied }: Size,
): Promise<readonly Cost[]> => {
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: join(folder, 'store.db'), barrier });
  await openBarrierFor(store, barrier, new Uint8Array(32).fill(1));
  const value = Buffer.alloc(600, 'k');
  const newRecord = () => {
    const path = `shared/bench/${randomBytes(12).toString('hex')}`;
    return { path, stored: barrier.encrypt(path, value) };
  };
  for (let filled = 0; filled < count; filled += PER_TRANSACTION) {
    await store.applyRecords('copy', Array.from({ length: PER_TRANSACTION }, newRecord));
  }
  await finishFilling(store);
  const entries = Array.from(
    { length: applied },
    (_, at): WalEntry => ({ sequence: at + 1, committedAtMs: 1, operations: [newRecord()] }),
  );
  const perWindow = Math.floor(applied / (WINDOWS + 1));
  let next = 0;
  const microseconds = await medianOf(() =>
    cpuOf(perWindow, async () => {
      for (const end = next + perWindow; next < end; ) {
        const to = Math.min(next + PER_APPLY, end);
        await store.applyEntries('primary', entries.slice(next, to));
        next = to;
      }
    }),
  );
  await store.close();
  return [{ name: 'P11 apply an entry', microseconds }];
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
  await finishFilling(store);
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
export const measureIssue = async (
  folder: string,
  { count, seconds }: Size,
): Promise<readonly Cost[]> => {
  const authority = await openAuthority(folder);
  const root = { common_name: 'Bench Root', ttl: '87600h', key_type: 'ec' };
  await authority.call('POST', 'root/generate/internal', root);
  const role = { allowed_domains: 'example.com', allow_subdomains: true, key_type: 'ec' };
  await authority.call('POST', 'roles/bench', role);
  const issue = () =>
    authority.call('POST', 'issue/bench', { common_name: 'a.example.com', ttl: '72h' });
  await fillWithCertificates(authority, issue, count);
  const microseconds = await measureCost('issue', seconds, issue);
  await authority.close();
  return [{ name: 'P1 issue, without HTTP', microseconds }];
};
