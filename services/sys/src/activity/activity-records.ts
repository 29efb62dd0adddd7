/** Records of the clients of each month, and of the number of requests. Each cluster counts its own. */
import {
  collection,
  countRecords,
  type Reads,
  type Store,
  singleRecord,
  type Transaction,
} from '@keelson/storage';
import { Type } from 'typebox';
import type { ActiveClient } from './domain/activity-report.ts';
import {
  type ActivitySettings,
  activitySettingsShape,
  DEFAULT_ACTIVITY_SETTINGS,
} from './domain/activity-settings.ts';

/** Keys: "<month>/<id of the client>". They outlive their namespaces, as the vendor's do. */
const clients = collection('active-clients', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: Type.Object({
    namespaceId: Type.String(),
    mountAccessor: Type.String(),
    isEntity: Type.Boolean(),
    firstUsedMs: Type.Number(),
  }),
});

/** Keys: months. */
const requests = collection('request-counts', {
  scope: 'local',
  version: 1,
  shape: Type.Object({ total: Type.Number() }),
});

const settings = singleRecord('core/activity-settings', {
  scope: 'shared',
  version: 1,
  shape: activitySettingsShape,
});

export const findActivitySettings = async (reads: Reads): Promise<ActivitySettings> =>
  (await settings.find(reads)) ?? DEFAULT_ACTIVITY_SETTINGS;

export const writeActivitySettings = (tx: Transaction, given: ActivitySettings): void =>
  settings.write(tx, given);

/** Writes a client that the month does not have yet. */
export const addClient = async (
  tx: Transaction,
  month: string,
  { id, ...client }: ActiveClient,
): Promise<void> => {
  if ((await clients.find(tx, month, id)) === undefined) clients.write(tx, [month, id], client);
};

export const countClients = (store: Store, month: string, limit: number): Promise<number> =>
  countRecords(store, `${clients.prefix}${month}/`, limit);

/** The clients of a month, sorted by their ids. */
export const listClientsOf = async (
  reads: Reads,
  month: string,
): Promise<readonly ActiveClient[]> =>
  (await clients.below(month).entries(reads)).map(([id, client]) => ({ id, ...client }));

/** Months that have clients, sorted. */
export const listActiveMonths = async (reads: Reads): Promise<readonly string[]> =>
  (await clients.keys(reads)).map((folder) => folder.replace(/\/$/, ''));

/** Deletes clients of a month, at most `limit`. @returns whether there may be more */
export const deleteClientsOf = async (
  tx: Transaction,
  month: string,
  limit: number,
): Promise<boolean> => {
  const ids = await clients.keys(tx, [month], { limit });
  for (const id of ids) clients.delete(tx, month, id);
  return ids.length === limit;
};

export const addRequests = async (tx: Transaction, month: string, more: number): Promise<void> => {
  const total = (await requests.find(tx, month))?.total ?? 0;
  requests.write(tx, [month], { total: total + more });
};

/** Months and their requests, sorted. */
export const listRequestCounts = async (
  reads: Reads,
): Promise<readonly { readonly month: string; readonly total: number }[]> =>
  (await requests.entries(reads)).map(([month, { total }]) => ({ month, total }));

export const deleteRequestsOf = (tx: Transaction, month: string): void =>
  requests.delete(tx, month);
