import type { Logger } from '@keelson/logging';
import type { RunsContext } from '../../runs/seams/runs-context.ts';
import type { FetchLimits } from '../git/fetched-repository.ts';

/** Context of the operations of this module. */
export interface VcsContext extends RunsContext {
  readonly fetchLimits: FetchLimits;
  readonly logger: Logger;
}
