/** Requests of this cluster over the last thirty days, and how far replication was behind. */
import type { Clock } from '@keelson/clock';
import {
  createHistory,
  DURATION_BOUNDS_MS,
  type History,
  type HistoryWindow,
  historyFormat,
  quantileMs,
} from '@keelson/history';
import { historyDocument } from '@keelson/history/secrets-api';
import type { RequestCounts } from '@keelson/proto/sys/v1/access';
import type { ReplicationKind } from '@keelson/replication';
import type { JsonObject } from '@keelson/secrets-api';
import { collection, type Store } from '@keelson/storage';

/** Keys: hours. They belong to the cluster, as its requests do. */
const records = collection('history', { scope: 'local', ...historyFormat });

/** The only owner: the cluster. */
const CLUSTER = 'cluster';

const slotSeries = (slot: number): string => `duration_${slot}`;

/** By the slots of `DURATION_BOUNDS_MS`, the last one for what is longer. */
const SLOTS = [...DURATION_BOUNDS_MS.keys(), DURATION_BOUNDS_MS.length];

const SERIES: Readonly<Record<string, 'count' | 'peak'>> = {
  requests: 'count',
  errors: 'count',
  ...Object.fromEntries(SLOTS.map((slot) => [slotSeries(slot), 'count' as const])),
  performance_lag_ms: 'peak',
  dr_lag_ms: 'peak',
};

export interface ClusterHistory extends Pick<History<typeof SERIES>, 'write'> {
  /** Adds what a gateway has counted. */
  addRequests(counts: RequestCounts): void;
  /** Notes how far the secondary that is furthest behind was behind, or this one. */
  noteLag(kind: ReplicationKind, ms: number): void;
  /** The document of `sys/history`. */
  report(window: HistoryWindow): Promise<JsonObject>;
}

export const createClusterHistory = (parts: {
  readonly store: Store;
  readonly clock: Clock;
  readonly mayWrite: () => boolean;
}): ClusterHistory => {
  const history = createHistory({
    ...parts,
    series: SERIES,
    recordsOf: () => records,
    owners: () => [CLUSTER],
  });
  return {
    write: (options) => history.write(options),
    addRequests: ({ minutes }) => {
      for (const { minuteMs, requests, errors, durations } of minutes) {
        const note = (series: string, count: number): void => {
          if (count > 0) history.note(CLUSTER, series, count, Number(minuteMs));
        };
        note('requests', requests);
        note('errors', errors);
        for (const slot of SLOTS) note(slotSeries(slot), durations[slot] ?? 0);
      }
    },
    noteLag: (kind, ms) => history.note(CLUSTER, `${kind}_lag_ms`, ms),
    report: async (window) => {
      const report = await history.read(CLUSTER, window);
      const valuesOf = (series: string) => report.values[series] ?? [];
      const slots = SLOTS.map((slot) => valuesOf(slotSeries(slot)));
      const quantile = (part: number) =>
        Array.from({ length: report.span.count }, (_, at) =>
          quantileMs(
            slots.map((values) => values[at] ?? 0),
            part,
          ),
        );
      return historyDocument(report, {
        requests: valuesOf('requests'),
        errors: valuesOf('errors'),
        duration_median_ms: quantile(0.5),
        duration_95_percent_ms: quantile(0.95),
        performance_lag_ms: valuesOf('performance_lag_ms'),
        dr_lag_ms: valuesOf('dr_lag_ms'),
      });
    },
  };
};
