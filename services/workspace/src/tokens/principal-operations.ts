import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { agentPoolRecords } from '../agents/agent-pool-records.ts';
import { organizationRecords } from '../organizations/organization-records.ts';
import { isExecuting } from '../runs/domain/run.ts';
import { runRecords } from '../runs/run-records.ts';
import { teamRecords } from '../teams/team-records.ts';
import { userRecords } from '../users/user-records.ts';
import { type ApiToken, isExpired } from './domain/token.ts';
import { findToken, hashToken, tokenRecords } from './token-records.ts';

const MAX_TOKEN_LENGTH = 512;

const toPrincipal = async (reads: Reads, token: ApiToken): Promise<Principal | undefined> => {
  switch (token.ownerKind) {
    case 'user': {
      const user = await userRecords.find(reads, token.ownerId);
      return (
        user && {
          kind: 'user',
          id: user.id,
          organization: '',
          tokenId: token.id,
          displayName: user.username,
          siteAdmin: user.isSiteAdmin,
        }
      );
    }
    case 'team': {
      const team = await teamRecords.find(reads, token.ownerId);
      const organization = team && (await organizationRecords.find(reads, team.organizationId));
      return (
        organization && {
          kind: 'team',
          id: team.id,
          organization: organization.name,
          tokenId: token.id,
          displayName: team.name,
          siteAdmin: false,
        }
      );
    }
    case 'organization': {
      const organization = await organizationRecords.find(reads, token.ownerId);
      return (
        organization && {
          kind: 'organization',
          id: organization.name,
          organization: organization.name,
          tokenId: token.id,
          displayName: organization.name,
          siteAdmin: false,
        }
      );
    }
    case 'agent-pool': {
      const pool = await agentPoolRecords.find(reads, token.ownerId);
      const organization = pool && (await organizationRecords.find(reads, pool.organizationId));
      return (
        organization && {
          kind: 'agent',
          id: pool.id,
          organization: organization.name,
          tokenId: token.id,
          displayName: pool.name,
          siteAdmin: false,
        }
      );
    }
    case 'run': {
      const run = await runRecords.find(reads, token.ownerId);
      if (run === undefined || !isExecuting(run.status)) return undefined;
      const organization = await organizationRecords.find(reads, run.organizationId);
      return (
        organization && {
          kind: 'run',
          id: run.id,
          organization: organization.name,
          tokenId: token.id,
          displayName: run.id,
          siteAdmin: false,
        }
      );
    }
  }
};

const toCurrentPrincipal = async (
  reads: Reads,
  token: ApiToken | undefined,
  nowMs: number,
): Promise<Principal | undefined> =>
  token === undefined || isExpired(token, nowMs) ? undefined : toPrincipal(reads, token);

/** Who a token speaks for; undefined when it is unknown, expired, or its owner is gone. */
export const findPrincipal = async (
  reads: Reads,
  text: string,
  nowMs: number,
): Promise<Principal | undefined> => {
  if (text === '' || text.length > MAX_TOKEN_LENGTH) return undefined;
  return toCurrentPrincipal(reads, await tokenRecords.find(reads, hashToken(text)), nowMs);
};

/** The same for a token that a request came with before, by its id (`at-…`). */
export const findPrincipalOf = async (
  reads: Reads,
  tokenId: string,
  nowMs: number,
): Promise<Principal | undefined> =>
  toCurrentPrincipal(reads, await findToken(reads, tokenId), nowMs);
