/**
 * Applies retention policies to versions of states and configurations that have reached the policy's limits.
 */
import {
  type Reads,
  type Store,
  type Transaction,
  type TransactOptions,
  unlessDamaged,
} from '@keelson/storage';
import type { Kysely } from 'kysely';
import type { ServiceContext } from '../../base/service-context.ts';
import { type BackingDataAction, DAY_MS, WITHHELD } from './domain/backing-data.ts';

type VersionTable = 'state_version' | 'configuration_version';
type Tables = Readonly<
  Record<
    VersionTable,
    { readonly id: string; readonly status: string; readonly created_at: number }
  >
>;

/** A position in the order of creation of all versions. */
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
 * Ids of the versions that still have their bytes and are at least a day old, which is the shortest limit of
 * a policy.
 * @param kept status of versions whose bytes are not withheld
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

/** A version that is due unless it is among the newest of its workspace. */
export interface DueVersion<Version> {
  readonly version: Version;
  readonly action: BackingDataAction;
  /** Number of the newest versions that are kept; null if none are kept for being new. */
  readonly keepLatest: number | null;
}

export interface AgedVersions<Version> {
  readonly table: VersionTable;
  /** Status of versions whose bytes are not withheld. */
  readonly kept: string;
  /** The action that the effective policy requires for a version; undefined if it requires none. */
  readonly findDue: (
    reads: Reads,
    id: string,
    nowMs: number,
  ) => Promise<DueVersion<Version> | undefined>;
  /** Number of newer versions of the workspace that have their bytes, counted up to `limit`. */
  readonly countNewer: (
    store: Pick<Store, 'select'>,
    version: Version,
    limit: number,
  ) => Promise<number>;
  /** @returns false when the status of the version does not allow it */
  readonly applyAction: (
    tx: Transaction,
    version: Version,
    action: BackingDataAction,
    nowMs: number,
  ) => Promise<boolean>;
}

/** One pass over all versions that may have reached a limit. */
export const applyToAged = async <Version>(
  { store, clock }: ServiceContext,
  { table, kept, findDue, countNewer, applyAction }: AgedVersions<Version>,
  options: TransactOptions,
): Promise<void> => {
  for await (const id of listAged(store, table, kept, clock.nowMs())) {
    // Most versions are not due. Only those that seem due are decided in a transaction.
    const found = await unlessDamaged(findDue(store, id, clock.nowMs()));
    if (found === undefined) continue;
    const { version, keepLatest } = found;
    // Versions only get older, so that one outside the newest stays outside.
    if (keepLatest !== null && (await countNewer(store, version, keepLatest)) < keepLatest)
      continue;
    await store.transact(async (tx) => {
      // The pass may have started long ago; the days in which bytes can be restored begin now.
      const nowMs = clock.nowMs();
      const due = await findDue(tx, id, nowMs);
      if (due !== undefined) await applyAction(tx, due.version, due.action, nowMs);
    }, options);
  }
};
