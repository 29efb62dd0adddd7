/** Reports of the clients that have used this cluster. */
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import { countEntities } from '../identity/entity-records.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { contains, type NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import { countTokens } from '../tokens/token-records.ts';
import type { ActivityRecorder } from './activity-recorder.ts';
import {
  deleteClientsOf,
  findActivitySettings,
  listActiveMonths,
  listClientsOf,
  listRequestCounts,
  writeActivitySettings,
} from './activity-records.ts';
import {
  type ActiveClient,
  type ActiveMonth,
  type ActivityReport,
  distinctClients,
  monthAfter,
  monthOf,
  monthsBetween,
  reportActivity,
} from './domain/activity-report.ts';
import {
  type ActivityChanges,
  type ActivitySettings,
  changedActivitySettings,
  isCounting,
} from './domain/activity-settings.ts';

export interface ActivityReportContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly mounts: () => Promise<MountIndex>;
  readonly namespaces: () => Promise<NamespaceTable>;
  readonly recorder: ActivityRecorder;
}

const PORTION = 200;
/** Counts beyond it are of no use to anybody. */
const MAX_COUNT = 10_000_000;

/** Undefined for what the request does not name. */
export interface AskedPeriod {
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  /** Whether the period is to end now. */
  readonly untilNow: boolean;
}

export interface Period {
  readonly first: string;
  readonly last: string;
}

/** @throws KeelsonError `request.invalid` for a period that ends before it begins */
const periodOf = (
  { startMs, endMs, untilNow }: AskedPeriod,
  { defaultReportMonths, retentionMonths }: ActivitySettings,
  nowMs: number,
): Period => {
  const now = monthOf(nowMs);
  const asked = endMs === undefined ? monthAfter(now, -1) : monthOf(endMs);
  const last = untilNow || asked > now ? now : asked;
  const first =
    startMs === undefined ? monthAfter(last, 1 - defaultReportMonths) : monthOf(startMs);
  if (first > last)
    throw new KeelsonError('request.invalid', { text: 'start_time is later than end_time' });
  const oldest = monthAfter(now, -retentionMonths);
  return { first: first < oldest && oldest <= last ? oldest : first, last };
};

/** Whether a client is shown in a namespace: those of removed ones in the root alone. */
const isSeenFrom = (table: NamespaceTable, path: string) => {
  const seen = new Map<string, boolean>();
  return ({ namespaceId }: ActiveClient): boolean => {
    let isSeen = seen.get(namespaceId);
    if (isSeen === undefined) {
      const found = table.findById(namespaceId);
      isSeen = found === undefined ? path === '' : contains({ path }, found);
      seen.set(namespaceId, isSeen);
    }
    return isSeen;
  };
};

const readMonths = async (
  { store, namespaces, recorder }: ActivityReportContext,
  path: string,
  { first, last }: Period,
): Promise<readonly ActiveMonth[]> => {
  // The answer includes all that this replica has noted.
  await recorder.write();
  const isSeen = isSeenFrom(await namespaces(), path);
  const known = new Set(await listActiveMonths(store));
  const months: ActiveMonth[] = [];
  for (const month of monthsBetween(first, last)) {
    const clients = known.has(month) ? await listClientsOf(store, month) : [];
    months.push({ month, clients: clients.filter(isSeen) });
  }
  return months;
};

export interface PeriodReport extends Period {
  readonly report: ActivityReport;
}

/** @throws KeelsonError `request.invalid` for a period that ends before it begins */
export const reportPeriod = async (
  context: ActivityReportContext,
  path: string,
  asked: AskedPeriod,
): Promise<PeriodReport> => {
  const settings = await findActivitySettings(context.store);
  const period = periodOf(asked, settings, context.clock.nowMs());
  return { ...period, report: reportActivity(await readMonths(context, path, period)) };
};

/** This month until now. */
export const reportMonth = (
  context: ActivityReportContext,
  path: string,
): Promise<PeriodReport> => {
  const nowMs = context.clock.nowMs();
  return reportPeriod(context, path, { startMs: nowMs, endMs: nowMs, untilNow: true });
};

/** Each client of a period once, those that were used first at the beginning. */
export const exportClients = async (
  context: ActivityReportContext,
  path: string,
  asked: AskedPeriod,
): Promise<readonly ActiveClient[]> => {
  const settings = await findActivitySettings(context.store);
  const period = periodOf(asked, settings, context.clock.nowMs());
  const found = distinctClients(await readMonths(context, path, period));
  return found.toSorted((one, other) => one.firstUsedMs - other.firstUsedMs);
};

export interface ShownSettings extends ActivitySettings {
  /** Whether a month that has ended has clients. */
  readonly hasReports: boolean;
}

export const readActivitySettings = async ({
  store,
  clock,
}: ActivityReportContext): Promise<ShownSettings> => {
  const now = monthOf(clock.nowMs());
  return {
    ...(await findActivitySettings(store)),
    hasReports: (await listActiveMonths(store)).some((month) => month < now),
  };
};

/** Counts of this month are discarded when counting ends. */
export const changeActivitySettings = async (
  { store, clock }: ActivityReportContext,
  changes: ActivityChanges,
): Promise<void> => {
  const after = await store.transact(async (tx) => {
    const changed = changedActivitySettings(await findActivitySettings(tx), changes);
    writeActivitySettings(tx, changed);
    return changed;
  });
  const month = monthOf(clock.nowMs());
  while (!isCounting(after) && (await store.transact((tx) => deleteClientsOf(tx, month, PORTION))));
};

export const countAllEntities = ({ store }: ActivityReportContext): Promise<number> =>
  countEntities(store, MAX_COUNT);

export const countServiceTokens = ({ store }: ActivityReportContext): Promise<number> =>
  countTokens(store, MAX_COUNT);

/** The requests of each month, the latest first. */
export const requestsByMonth = async ({ store, recorder }: ActivityReportContext) => {
  await recorder.write();
  return (await listRequestCounts(store)).toReversed();
};
