import type { Resource } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import type { WorkspaceAccessResult } from '../../workspaces/access/access-operations.ts';
import type { StateVersion } from '../model/domain/state-version.ts';

/** A state version with its reader's permissions on the workspace. */
export interface StateAccess extends WorkspaceAccessResult {
  readonly version: StateVersion;
}

/** Loaders of resources that a later module includes with state versions, by their name in `include`. */
export type StateContribution = Readonly<
  Record<string, (reads: Reads, access: StateAccess) => Promise<readonly Resource[]>>
>;
