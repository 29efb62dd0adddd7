/** The version control connections of workspaces. */
import { refuseInvalid } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { isOpenToProject } from '../model/domain/oauth-client.ts';
import type { Workspace } from '../model/domain/workspace.ts';
import { oauthClientRecords, oauthTokenRecords } from '../model/oauth-records.ts';

/**
 * Checks that the connection of a workspace after a request belongs to its organization and is open to its
 * project.
 * @throws KeelsonError `jsonapi.invalid_attribute`
 */
export const requireConnection = async (
  reads: Reads,
  { organizationId, projectId, settings }: Workspace,
): Promise<void> => {
  const tokenId = settings.vcsRepo?.oauthTokenId;
  if (!tokenId) return;
  const token = await oauthTokenRecords.find(reads, tokenId);
  const client = token && (await oauthClientRecords.find(reads, token.clientId));
  const refuse = (text: string) =>
    refuseInvalid([attributeViolation('vcs-repo/oauth-token-id', text)]);
  if (client?.organizationId !== organizationId) refuse('OAuth token not found');
  else if (!isOpenToProject(client, projectId)) {
    refuse("the OAuth client is not open to the workspace's project");
  }
};
