/** Does to versions, of states or of configurations, what a policy says once it has reached them. */
import type { Reads, Store, Transaction, TransactOptions } from '@keelson/storage';
import type { Kysely } from 'kysely';
import type { ServiceContext } from '../service-context.ts';
import { type BackingDataAction, DAY_MS, WITHHELD } from './domain/backing-data.ts';

type VersionTable = 'state_version' | 'configuration_version';
type Tables = Readonly<
  Record<
    VersionTable,
    { readonly id: string; readonly status: string; readonly created_at: number }
  >
>;

/** A place among all versions, in order of creation. */
interface Place {
  readonly id: string;
  readonly createdAtMs: number;
}

const PAGE_SIZE = 100;

const findBefore = async (
  store: Pick<Store, 'select'>,
  table: VersionTable,
  status: string,
  beforeMs: number,
  place: Place | undefined,
): Promise<readonly Place[]> => {
  const rows = await store.select((tables: Kysely<Tables>) => {
    const found = tables
      .selectFrom(table)
      .select(['id', 'created_at'])
      .where('status', '=', status)
      .where('created_at', '<', beforeMs)
      .orderBy('created_at')
      .orderBy('id')
      .limit(PAGE_SIZE);
    if (place === undefined) return found;
    return found.where((row) =>
      row.or([
        row('created_at', '>', place.createdAtMs),
        row.and([row('created_at', '=', place.createdAtMs), row('id', '>', place.id)]),
      ]),
    );
  });
  return rows.map(({ id, created_at }) => ({ id, createdAtMs: Number(created_at) }));
};

/**
 * Ids of the versions that are at least a day old, as the shortest policy says, and whose bytes are there.
 * @param kept the status of versions whose bytes are not withheld
 */
const listAged = async function* (
  store: Pick<Store, 'select'>,
  table: VersionTable,
  kept: string,
  nowMs: number,
): AsyncGenerator<string, void, void> {
  for (const status of [kept, WITHHELD]) {
    let page: readonly Place[];
    let place: Place | undefined;
    do {
      page = await findBefore(store, table, status, nowMs - DAY_MS + 1, place);
      place = page.at(-1);
      yield* page.map(({ id }) => id);
    } while (page.length === PAGE_SIZE);
  }
};

/** A version that is to go unless it is among the newest of its workspace. */
export interface DueVersion<Version> {
  readonly version: Version;
  readonly action: BackingDataAction;
  /** So many of the newest stay; null: none for being new. */
  readonly keepLatest: number | null;
}

export interface AgedVersions<Version> {
  readonly table: VersionTable;
  /** The status of versions whose bytes are not withheld. */
  readonly kept: string;
  /** What the policy in force says of a version; undefined: nothing. */
  readonly findDue: (
    reads: Reads,
    id: string,
    nowMs: number,
  ) => Promise<DueVersion<Version> | undefined>;
  /** How many newer ones of the workspace have their bytes, counted up to `limit`. */
  readonly countNewer: (
    store: Pick<Store, 'select'>,
    version: Version,
    limit: number,
  ) => Promise<number>;
  /** @returns false when the version is in another status */
  readonly applyAction: (
    tx: Transaction,
    version: Version,
    action: BackingDataAction,
    nowMs: number,
  ) => Promise<boolean>;
}

/** One pass over all versions that a policy may have reached. */
export const applyToAged = async <Version>(
  { store, clock }: ServiceContext,
  { table, kept, findDue, countNewer, applyAction }: AgedVersions<Version>,
  options: TransactOptions,
): Promise<void> => {
  for await (const id of listAged(store, table, kept, clock.nowMs())) {
    // Most are kept: only what looks due is decided in a transaction.
    const found = await findDue(store, id, clock.nowMs());
    if (found === undefined) continue;
    const { version, keepLatest } = found;
    // What is new only gets older: a version that is past the newest stays so.
    if (keepLatest !== null && (await countNewer(store, version, keepLatest)) < keepLatest)
      continue;
    await store.transact(async (tx) => {
      // The pass may have begun long ago; the days in which bytes can be given back begin now.
      const nowMs = clock.nowMs();
      const due = await findDue(tx, id, nowMs);
      if (due !== undefined) await applyAction(tx, due.version, due.action, nowMs);
    }, options);
  }
};
