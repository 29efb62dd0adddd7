import { type Facts, formatValue, type Status } from './replication-status.ts';

/** Maximum number of samples kept; at most one per second is taken. */
export const MAX_SAMPLES = 300;

export interface LagSample {
  readonly atMs: number;
  /** Lag in milliseconds by name of the secondary. */
  readonly lags: ReadonlyMap<string, number>;
}

const lagOf = (facts: Facts): number => {
  const lag = Number(facts['lag_ms']);
  return Number.isFinite(lag) ? lag : 0;
};

export const lagSample = (status: Status, atMs: number): LagSample => ({
  atMs,
  lags:
    status.mode === 'primary'
      ? new Map((status.secondaries ?? []).map((one) => [formatValue(one['node_id']), lagOf(one)]))
      : new Map([['this cluster', lagOf(status)]]),
});
