import type { Resource, ResourceType } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import type { WorkspaceAccessResult } from '../../workspaces/access/access-operations.ts';
import type { StateVersion } from '../model/domain/state-version.ts';

/** A state version with its reader's permissions on the workspace. */
export interface StateAccess extends WorkspaceAccessResult {
  readonly version: StateVersion;
}

export interface StateInclude {
  /** Types of the resources. */
  readonly types: readonly ResourceType[];
  load(this: void, reads: Reads, access: StateAccess): Promise<readonly Resource[]>;
}

/** Resources that a later module includes with state versions, by their name in `include`. */
export type StateContribution = Readonly<Record<string, StateInclude>>;
