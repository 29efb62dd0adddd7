import type { Relationship, Resource } from '@keelson/jsonapi';
import type { ServiceContext } from '../../base/service-context.ts';
import type { WorkspaceAccessResult } from '../access/access-operations.ts';

/** Input of the loaders of included resources. */
export interface IncludeRequest {
  readonly context: ServiceContext;
  /** Address at which the client reached the service. */
  readonly baseUrl: string;
}

/** The resources that one workspace adds to a response. */
export type LoadIncluded = (access: WorkspaceAccessResult) => Promise<readonly Resource[]>;

export interface WorkspaceInclude {
  /** Whether the token of a run may include it, as the API has a route for that token too. */
  readonly isOpenToRuns?: boolean;
  /** Called once for each request that includes it. */
  prepare(this: void, request: IncludeRequest): LoadIncluded | Promise<LoadIncluded>;
}

/** Parts that a capability or a later module adds to workspace documents. */
export interface WorkspaceContribution {
  attributes?(access: WorkspaceAccessResult): Readonly<Record<string, unknown>>;
  relationships?(access: WorkspaceAccessResult): Readonly<Record<string, Relationship>>;
  /** By name in `include`; several contributions may add to the same name. */
  readonly includes?: Readonly<Record<string, WorkspaceInclude>>;
}
