/** Counts of each mount over the last thirty days, for the pages of its authority. */
import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import { localRecords, requireMount } from '@keelson/engine';
import { createHistory, type History, historyFormat } from '@keelson/history';
import {
  HISTORY_FIELDS,
  HISTORY_TEXT,
  historyDocument,
  toWindow,
} from '@keelson/history/secrets-api';
import { secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';

const SERIES = {
  certificates_issued: 'count',
  certificates_revoked: 'count',
  acme_orders_created: 'count',
  acme_orders_finished: 'count',
} as const;

/** Owners are the uuids of mounts. */
export type MountHistory = History<typeof SERIES>;

const historyRecords = localRecords('history', historyFormat);

export const createMountHistory = (parts: {
  readonly store: Store;
  readonly clock: Clock;
  readonly mounts: () => readonly { readonly uuid: string }[];
  readonly mayWrite: () => boolean;
}): MountHistory =>
  createHistory({
    ...parts,
    series: SERIES,
    recordsOf: (uuid) => historyRecords({ uuid, local: true }),
    owners: () => parts.mounts().map(({ uuid }) => uuid),
  });

export const historyRoutes = (history: MountHistory): Route[] =>
  secretsRoutes({
    path: '/history',
    tag: 'certificates',
    fields: HISTORY_FIELDS,
    operations: {
      read: {
        summary:
          'Count certificates and ACME orders by the time at which something happened to them',
        description: HISTORY_TEXT,
        handle: async (context) => {
          const report = await history.read(
            requireMount(context).uuid,
            toWindow(context.fields.window),
          );
          return { data: historyDocument(report, report.values) };
        },
      },
    },
  });
