/** The connections by which workspaces reach their repositories. */
import { refuseInvalid } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import { attributeViolation } from '../validation/domain/violation.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import { isOpenToProject } from './domain/oauth-client.ts';
import { oauthClientRecords, oauthTokenRecords } from './oauth-records.ts';

/**
 * The connection of a workspace, as a request leaves it, is one of its organization's and open to its
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
