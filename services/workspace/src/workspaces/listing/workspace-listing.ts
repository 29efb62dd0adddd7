import type { Page } from '@keelson/jsonapi';
import type { RunStatus } from '../../base/run-status.ts';

export interface TagFilter {
  readonly key: string;
  /** Any value if absent. */
  readonly value?: string;
  /** Matches the key in any case. Used only without a value. */
  readonly isInAnyCase?: boolean;
}

export const SORT_FIELDS = ['name', 'current-run.created-at', 'latest-change-at'] as const;

export interface WorkspaceQuery {
  readonly organizationId: string;
  /** Limits the list to the projects and workspaces that the caller may see; undefined means no limit. */
  readonly visible?:
    | { readonly projectIds: readonly string[]; readonly workspaceIds: readonly string[] }
    | undefined;
  /** Part of the name, in any case. */
  readonly nameContains?: string | undefined;
  /** Name with `*` at the start, the end, or both. */
  readonly nameWildcard?: string | undefined;
  /** Keys of effective bindings, ignoring case, all of which the workspace must have. */
  readonly tags: readonly string[];
  /** Keys of effective bindings, ignoring case, none of which the workspace may have. */
  readonly excludeTags: readonly string[];
  /** Keys of own bindings, all of which the workspace must have. */
  readonly ownKeys?: readonly string[] | undefined;
  /** Effective bindings that the workspace must have: all of them, or for a union at least one. */
  readonly tagged: readonly TagFilter[];
  readonly isTagUnion?: boolean | undefined;
  readonly projectId?: string | undefined;
  /** A workspace to leave out of the list. */
  readonly exceptId?: string | undefined;
  readonly runStatuses: readonly string[];
  readonly sort?:
    | { readonly by: (typeof SORT_FIELDS)[number]; readonly isDescending: boolean }
    | undefined;
  readonly page: Page;
}

export interface WorkspaceMatches {
  /** Ids of the page, in order. */
  readonly ids: readonly string[];
  readonly totalCount: number;
}

/** A flat tag of an organization. It exists as long as a workspace carries it. */
export interface OrganizationTag {
  readonly id: string;
  readonly name: string;
  readonly createdAtMs: number;
  readonly instanceCount: number;
}

/** Tags of workspaces outside the scope are neither found nor counted. */
export type TagScope = Pick<WorkspaceQuery, 'organizationId' | 'visible'>;

export interface TagSearch {
  readonly nameContains?: string | undefined;
  /** Leaves out the tags that this workspace carries. */
  readonly notOnWorkspaceId?: string | undefined;
}

export interface TagListing {
  /** The tags with these names, in the organization's spelling. */
  findTags(scope: TagScope, names: readonly string[]): Promise<readonly OrganizationTag[]>;
  findTagById(scope: TagScope, tagId: string): Promise<OrganizationTag | undefined>;
  /** By name. */
  listTags(scope: TagScope, search: TagSearch): Promise<readonly OrganizationTag[]>;
  /** Ids of the workspaces that carry a flat tag. */
  findTagCarriers(organizationId: string, name: string): Promise<readonly string[]>;
}

/** Number of workspaces whose current run has the status. */
export type RunStatusCounts = ReadonlyMap<RunStatus, number>;

/** Searches that records cannot answer by path; they are answered from the projections. */
export interface WorkspaceListing extends TagListing {
  find(query: WorkspaceQuery): Promise<WorkspaceMatches>;
  countInProject(organizationId: string, projectId: string): Promise<number>;
  countVisible(scope: Pick<WorkspaceQuery, 'organizationId' | 'visible'>): Promise<number>;
  countVisibleByRunStatus(
    scope: Pick<WorkspaceQuery, 'organizationId' | 'visible'>,
  ): Promise<RunStatusCounts>;
}
