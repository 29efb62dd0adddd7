import type { Logger } from '@keelson/logging';
import type { FetchLimits } from '@keelson/repositories';
import type { RunsContext } from '../../runs/seams/runs-context.ts';

/** Context of the operations of this module. */
export interface VcsContext extends RunsContext {
  readonly fetchLimits: FetchLimits;
  /** Pieces of work of one organization that may wait for its providers. */
  readonly repositoryWorkLimit: number;
  readonly logger: Logger;
}
