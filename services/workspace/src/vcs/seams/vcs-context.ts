import type { Logger } from '@keelson/logging';
import type { Counter } from '@keelson/metrics';
import type { FetchLimits } from '@keelson/repositories';
import type { WorkerDeathKind } from '@keelson/supervisor';
import type { RunsContext } from '../../runs/seams/runs-context.ts';

/** Context of the operations of this module. */
export interface VcsContext extends RunsContext {
  readonly fetchLimits: FetchLimits;
  /** Pieces of work of one organization that may wait for its providers. */
  readonly repositoryWorkLimit: number;
  /** Counters of the workers that fetch. */
  readonly workerCounters: {
    readonly deaths: { inc(kind: WorkerDeathKind | 'agent'): void };
    /** Work that has ended too many of them. */
    readonly givenUp: Counter;
  };
  readonly logger: Logger;
}
