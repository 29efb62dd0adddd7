/**
 * Runs as owners of tokens: an agent executes a phase with such a token, which is revoked at the end of the
 * phase.
 */
import { notFound } from '../../base/not-found.ts';
import { organizationRecords } from '../../identity/model/organization-records.ts';
import type { TokenOwnerRules } from '../../identity/seams/token-owners.ts';
import { toOrganizationPrincipal } from '../../identity/tokens/token-owners.ts';
import { isExecuting } from '../model/domain/run.ts';
import { runRecords } from '../model/run-records.ts';

export const RUN_TOKEN_OWNER: TokenOwnerRules = {
  findPrincipal: async (reads, token) => {
    const run = await runRecords.find(reads, token.ownerId);
    if (run === undefined || !isExecuting(run.status)) return undefined;
    const organization = await organizationRecords.find(reads, run.organizationId);
    return toOrganizationPrincipal('run', { id: run.id, displayName: run.id }, organization, token);
  },
  requireManager: async () => {
    throw notFound('token');
  },
};
