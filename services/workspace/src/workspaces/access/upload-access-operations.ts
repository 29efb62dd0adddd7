/**
 * Permissions of uploads to signed URLs, which carry no token. An upload has the permissions that the caller
 * who requested the URL has, with the same token, when the bytes arrive.
 */
import type { Reads } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { IdentityContext } from '../../identity/seams/identity-context.ts';
import { findPrincipalOf } from '../../identity/tokens/principal-operations.ts';
import { requireWorkspace, type WorkspaceAccessResult } from './access-operations.ts';
import type { WorkspacePermission } from './domain/workspace-permissions.ts';

/** An upload for which a signed URL was issued. */
export interface Announced {
  readonly workspaceId: string;
  /** `at-…`; null if no request announced it, and no upload can follow. */
  readonly announcedWith: string | null;
}

/**
 * The workspace with the current permissions of the caller who requested the URL.
 * @throws KeelsonError `workspace.not_found` when that token has been revoked or no longer gives `permission`
 */
export const requireAnnouncer = async (
  { tokenOwners, clock }: IdentityContext,
  reads: Reads,
  { workspaceId, announcedWith }: Announced,
  permission: WorkspacePermission,
): Promise<WorkspaceAccessResult> => {
  const tokenId = announcedWith ?? '';
  const principal = await findPrincipalOf(tokenOwners, reads, tokenId, clock.nowMs());
  if (principal === undefined) throw notFound('workspace');
  return requireWorkspace(reads, principal, { workspaceId }, permission);
};
