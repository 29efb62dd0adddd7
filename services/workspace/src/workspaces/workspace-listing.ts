import type { Page } from '@keelson/jsonapi';
import type { RunStatus } from '../runs/domain/run.ts';

export interface TagFilter {
  readonly key: string;
  /** Absent: any value. */
  readonly value?: string;
  /** The key is meant in any case; with any value only. */
  readonly isInAnyCase?: boolean;
}

export const SORT_FIELDS = ['name', 'current-run.created-at', 'latest-change-at'] as const;

export interface WorkspaceQuery {
  readonly organizationId: string;
  /** What the caller may see; undefined is everything. */
  readonly visible?:
    | { readonly projectIds: readonly string[]; readonly workspaceIds: readonly string[] }
    | undefined;
  /** Part of the name, in any case. */
  readonly nameContains?: string | undefined;
  /** Name with `*` at the start, the end, or both. */
  readonly nameWildcard?: string | undefined;
  /** Keys of effective bindings in any case, all of which must be there. */
  readonly tags: readonly string[];
  /** The same, none of which may be there. */
  readonly excludeTags: readonly string[];
  /** Keys of own bindings, all of which must be there. */
  readonly ownKeys?: readonly string[] | undefined;
  /** Effective bindings, all of which must be there, or one of them where it is a union. */
  readonly tagged: readonly TagFilter[];
  readonly isTagUnion?: boolean | undefined;
  readonly projectId?: string | undefined;
  /** A workspace that is left out. */
  readonly exceptId?: string | undefined;
  readonly runStatuses: readonly string[];
  readonly sort?:
    | { readonly by: (typeof SORT_FIELDS)[number]; readonly isDescending: boolean }
    | undefined;
  readonly page: Page;
}

export interface WorkspaceMatches {
  /** Of the page, in order. */
  readonly ids: readonly string[];
  readonly totalCount: number;
}

/** A flat tag of an organization: it exists as long as a workspace carries it. */
export interface OrganizationTag {
  readonly id: string;
  readonly name: string;
  readonly createdAtMs: number;
  readonly instanceCount: number;
}

/** What is carried by workspaces elsewhere is neither found nor counted. */
export type TagScope = Pick<WorkspaceQuery, 'organizationId' | 'visible'>;

export interface TagSearch {
  readonly nameContains?: string | undefined;
  /** Leaves out what this workspace carries. */
  readonly notOnWorkspaceId?: string | undefined;
}

export interface TagListing {
  /** The tags of these names, as the organization has them. */
  findTags(scope: TagScope, names: readonly string[]): Promise<readonly OrganizationTag[]>;
  findTagById(scope: TagScope, tagId: string): Promise<OrganizationTag | undefined>;
  /** By name. */
  listTags(scope: TagScope, search: TagSearch): Promise<readonly OrganizationTag[]>;
  /** Ids of the workspaces that carry a flat tag. */
  findTagCarriers(organizationId: string, name: string): Promise<readonly string[]>;
}

/** How many workspaces have a current run of that status. */
export type RunStatusCounts = ReadonlyMap<RunStatus, number>;

/** Searches that no path lookup can serve, answered from the projections. */
export interface WorkspaceListing extends TagListing {
  find(query: WorkspaceQuery): Promise<WorkspaceMatches>;
  countInProject(organizationId: string, projectId: string): Promise<number>;
  countVisible(scope: Pick<WorkspaceQuery, 'organizationId' | 'visible'>): Promise<number>;
  countVisibleByRunStatus(
    scope: Pick<WorkspaceQuery, 'organizationId' | 'visible'>,
  ): Promise<RunStatusCounts>;
}
