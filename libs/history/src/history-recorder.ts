/**
 * A service's own counters over the last thirty days. An event costs an addition in memory; once a minute, each
 * replica adds its minute to the records that all replicas share, if anything has happened. A process that dies
 * loses the minute that it has not written yet.
 */
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { PeriodicWork, RoundOptions } from '@keelson/locks';
import { type RecordCollection, readableOnly, type Store } from '@keelson/storage';
import {
  combined,
  type HistoryRecord,
  type Row,
  type SeriesKinds,
  type Values,
  valuesOf,
  withRows,
} from './history-records.ts';
import {
  type HistorySpan,
  type HistoryWindow,
  hourKey,
  KEPT_MS,
  minuteOf,
  spanOf,
} from './windows.ts';

const WRITE_EVERY_MS = 60_000;
/** Owners whose rows are written in one transaction. */
const PORTION = 50;
/** An owner that is not listed after this time is taken for removed; until then it may be newer than the list. */
const UNLISTED_MS = 120_000;
/** Rows that wait to be written, as during an outage of the store; further ones are not counted. */
const MAX_WAITING = 10_000;

export interface HistoryParts<Kinds extends SeriesKinds> {
  readonly store: Store;
  readonly clock: Clock;
  /** All series; their number is fixed, which bounds the size of a record. */
  readonly series: Kinds;
  /** The records of an owner, such as a mount. */
  readonly recordsOf: (owner: string) => RecordCollection<HistoryRecord>;
  /** Owners that exist. Rows of others are dropped, so that nothing is written for an owner that was removed. */
  readonly owners: () => readonly string[];
  /** Whether this cluster may write now; rows wait until it may. */
  readonly mayWrite: () => boolean;
}

export interface HistoryReport<Kinds extends SeriesKinds> {
  readonly span: HistorySpan;
  readonly values: Readonly<Record<keyof Kinds, Values>>;
}

export interface History<Kinds extends SeriesKinds> {
  /**
   * Notes an event.
   * @param value what is added to a count, or compared with a peak; 1 if it is left out
   * @param atMs the time of the event; now if it is left out
   */
  note(owner: string, series: keyof Kinds & string, value?: number, atMs?: number): void;
  /** Writes what this replica has noted, and deletes rows that are too old. */
  write(options?: RoundOptions): Promise<void>;
  /** The values of an owner, including all that this replica has noted. */
  read(owner: string, window: HistoryWindow): Promise<HistoryReport<Kinds>>;
}

type Rows = Map<number, Map<string, number>>;

const byHour = (rows: Rows): ReadonlyMap<string, ReadonlyMap<number, Row>> => {
  const hours = new Map<string, Map<number, Row>>();
  for (const [minuteMs, row] of rows) {
    const key = hourKey(minuteMs);
    const hour = hours.get(key) ?? new Map<number, Row>();
    hours.set(key, hour.set(minuteMs, row));
  }
  return hours;
};

/** Whether it is known that nothing of a transaction was stored, so that it may be repeated. */
const isUndone = (error: unknown): boolean =>
  !(error instanceof KeelsonError && error.code === 'storage.outcome_unknown');

export const createHistory = <const Kinds extends SeriesKinds>({
  store,
  clock,
  series: kinds,
  recordsOf,
  owners,
  mayWrite,
}: HistoryParts<Kinds>): History<Kinds> => {
  let waiting = new Map<string, Rows>();
  let waitingRows = 0;
  let prunedIn = '';

  const add = (owner: string, minuteMs: number, series: string, value: number): void => {
    let rows = waiting.get(owner);
    let row = rows?.get(minuteMs);
    if (row === undefined) {
      if (waitingRows >= MAX_WAITING) return;
      waitingRows += 1;
      row = new Map();
      if (rows === undefined) waiting.set(owner, (rows = new Map()));
      rows.set(minuteMs, row);
    }
    const before = row.get(series);
    row.set(series, before === undefined ? value : combined(kinds[series], before, value));
  };

  const putBack = (portion: readonly (readonly [string, Rows])[]): void => {
    for (const [owner, rows] of portion)
      for (const [minuteMs, row] of rows)
        for (const [series, value] of row) add(owner, minuteMs, series, value);
  };

  const writePortion = (portion: readonly (readonly [string, Rows])[], options: RoundOptions) =>
    store.transact(async (tx) => {
      for (const [owner, rows] of portion) {
        const records = recordsOf(owner);
        for (const [hour, added] of byHour(rows)) {
          const before = await records.find(readableOnly(tx), hour);
          records.write(tx, hour, withRows(before, added, kinds));
        }
      }
    }, options);

  const writeWaiting = async (options: RoundOptions): Promise<void> => {
    const listed = new Set(owners());
    const all = [...waiting];
    const found = all.filter(([owner]) => listed.has(owner));
    const since = clock.nowMs() - UNLISTED_MS;
    waiting = new Map();
    waitingRows = 0;
    putBack(all.filter(([owner, rows]) => !listed.has(owner) && Math.max(...rows.keys()) >= since));
    for (let at = 0; at < found.length; at += PORTION)
      try {
        await writePortion(found.slice(at, at + PORTION), options);
      } catch (error) {
        putBack(found.slice(isUndone(error) ? at : at + PORTION));
        throw error;
      }
  };

  /** Deletes the records of hours before the longest window, once in an hour. */
  const prune = async (options: RoundOptions): Promise<void> => {
    const nowMs = clock.nowMs();
    if (prunedIn === hourKey(nowMs)) return;
    const oldest = hourKey(nowMs - KEPT_MS);
    for (const owner of owners()) {
      const records = recordsOf(owner);
      const past = (await records.keys(store)).filter((hour) => hour < oldest);
      if (past.length > 0)
        await store.transact(async (tx) => {
          for (const hour of past) records.delete(tx, hour);
        }, options);
    }
    prunedIn = hourKey(nowMs);
  };

  const write = async (options: RoundOptions = {}): Promise<void> => {
    if (!mayWrite()) return;
    if (waiting.size > 0) await writeWaiting(options);
    await prune(options);
  };

  return {
    note: (owner, series, value = 1, atMs = clock.nowMs()) =>
      add(owner, minuteOf(atMs), series, value),
    write,
    read: async (owner, window) => {
      await write();
      const span = spanOf(window, clock.nowMs());
      const first = hourKey(span.fromMs);
      const records = recordsOf(owner);
      const hours = (await records.keys(store)).filter((hour) => hour >= first);
      const found = await Promise.all(
        hours.map(async (hour) => [hour, await records.find(readableOnly(store), hour)] as const),
      );
      return {
        span,
        values: valuesOf(
          found.flatMap(([hour, record]) =>
            record === undefined ? [] : [[hour, record] as const],
          ),
          span,
          kinds,
        ),
      };
    },
  };
};

/** Writes a history once a minute; each replica writes what it has noted itself. */
export const historyWork = (history: Pick<History<SeriesKinds>, 'write'>): PeriodicWork => ({
  everyMs: WRITE_EVERY_MS,
  inEveryReplica: true,
  round: async (options) => {
    await history.write(options);
    return false;
  },
});
