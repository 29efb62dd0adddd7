/**
 * Uploads to signed addresses carry no token. What they may do is what the caller who announced them may
 * do when the bytes arrive, with the token of the announcement.
 */
import type { Reads } from '@keelson/storage';
import { findPrincipalOf } from '../tokens/principal-operations.ts';
import { notFound, requireWorkspace, type WorkspaceAccessResult } from './access-operations.ts';
import type { WorkspacePermission } from './domain/workspace-permissions.ts';

/** An announced upload. */
export interface Announced {
  readonly workspaceId: string;
  /** `at-…`. */
  readonly announcedWith: string;
}

/**
 * The workspace with the permissions that the announcer has now.
 * @throws KeelsonError `workspace.not_found` when the token has ended or no longer opens `permission`
 */
export const requireAnnouncer = async (
  reads: Reads,
  { workspaceId, announcedWith }: Announced,
  permission: WorkspacePermission,
  nowMs: number,
): Promise<WorkspaceAccessResult> => {
  const principal = await findPrincipalOf(reads, announcedWith, nowMs);
  if (principal === undefined) throw notFound('workspace');
  return requireWorkspace(reads, principal, { workspaceId }, permission);
};
