import type { ResourceAttributes } from '../api/resource-attributes.ts';
export type Repository = NonNullable<ResourceAttributes['workspaces']['vcs-repo']>;

export type WorkspaceAttributes = ResourceAttributes['workspaces'];
