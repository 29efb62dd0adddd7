import type { Clock } from '@keelson/clock';
import type { Store } from '@keelson/storage';
import type { WorkspaceListing } from './workspaces/workspace-listing.ts';

/** What operations work with. */
export interface ServiceContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly listing: WorkspaceListing;
  /** Releases of the provisioning tool that may be chosen, newest first. */
  readonly runtimeVersions: readonly string[];
  /** What `global-remote-state` is for new workspaces that do not say it. */
  readonly globalRemoteState: boolean;
  /** Where the next run comes among all: greater with every call. */
  readonly nextRunOrder: () => number;
  /** Between two health assessments of a workspace. */
  readonly assessmentIntervalMs: number;
}
