/** Notes how far replication is behind, for the history of the cluster. */
import type { PeriodicWork } from '@keelson/locks';
import { REPLICATION_KINDS, type ReplicationKind } from '@keelson/replication';
import type { JsonObject } from '@keelson/secrets-api';
import type { ClusterHistory } from './cluster-history.ts';

const SAMPLE_EVERY_MS = 15_000;

const lagsIn = (status: JsonObject): readonly unknown[] =>
  status['mode'] === 'primary'
    ? (status['secondaries'] as readonly JsonObject[]).map((one) => one['lag_ms'])
    : [status['lag_ms']];

/** One replica samples, because each would find the same. */
export const lagSampling = (
  history: Pick<ClusterHistory, 'noteLag'>,
  statusOf: (kind: ReplicationKind) => Promise<JsonObject>,
): PeriodicWork => ({
  everyMs: SAMPLE_EVERY_MS,
  round: async () => {
    for (const kind of REPLICATION_KINDS) {
      const lags = lagsIn(await statusOf(kind)).filter((lag) => typeof lag === 'number');
      if (lags.length > 0) history.noteLag(kind, Math.max(...lags));
    }
    return false;
  },
});
