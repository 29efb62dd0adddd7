import type { ResourceAttributes } from '../api/resource-attributes.ts';

export type WorkspaceAttributes = ResourceAttributes['workspaces'];
