/** Tokens of all teams of an organization that the caller may manage. */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly } from '@keelson/storage';
import type { ServiceContext } from '../../base/service-context.ts';
import { requireOrganization } from '../access/organization-access-operations.ts';
import { decideTeamAccess } from '../access/team-access.ts';
import type { Team } from '../model/domain/team.ts';
import { type ApiToken, isExpired } from '../model/domain/token.ts';
import { loadTeams } from '../model/team-records.ts';
import { userRecords } from '../model/user-records.ts';
import { listTokensOf } from './token-operations.ts';
import { findLastUse } from './token-use-operations.ts';

export const TEAM_TOKEN_SORTS = ['team-name', 'created-by', 'expired-at', 'last-used-at'] as const;
export type TeamTokenSort = (typeof TEAM_TOKEN_SORTS)[number];

export interface TeamTokenQuery {
  /** Part of the team's name, ignoring case. */
  readonly teamNameContains: string;
  /** Undefined means expired and valid tokens. */
  readonly hasExpired: boolean | undefined;
  readonly sort: { readonly by: TeamTokenSort; readonly isDescending: boolean };
}

interface TeamToken {
  readonly token: ApiToken;
  readonly team: Team;
  readonly createdBy: string;
  /** Null means never. */
  readonly lastUsedAtMs: number | null;
}

const loadTeamTokens = async (reads: Reads, team: Team): Promise<readonly TeamToken[]> => {
  const tokens = await listTokensOf(reads, { kind: 'team', id: team.id });
  return Promise.all(
    tokens.map(async (token) => {
      const user = await userRecords.find(reads, token.createdById ?? '');
      const lastUsedAtMs = await findLastUse(reads, token.id);
      return { token, team, createdBy: user?.username ?? '', lastUsedAtMs };
    }),
  );
};

const compare = <T extends string | number>(a: T, b: T): number => (a < b ? -1 : Number(a > b));

const ORDERS: Readonly<Record<TeamTokenSort, (a: TeamToken, b: TeamToken) => number>> = {
  'team-name': (a, b) => compare(a.team.name, b.team.name),
  'created-by': (a, b) => compare(a.createdBy, b.createdBy),
  // Tokens that never expire come last.
  'expired-at': (a, b) =>
    compare(a.token.expiresAtMs ?? Number.MAX_VALUE, b.token.expiresAtMs ?? Number.MAX_VALUE),
  // Tokens that were never used come first.
  'last-used-at': (a, b) => compare(a.lastUsedAtMs ?? 0, b.lastUsedAtMs ?? 0),
};

/** Ties are ordered by team, then by creation. */
export const listTeamTokens = async (
  { store, clock }: ServiceContext,
  principal: Principal,
  organizationName: string,
  { teamNameContains, hasExpired, sort }: TeamTokenQuery,
): Promise<readonly ApiToken[]> => {
  const owner = await requireOrganization(store, principal, organizationName);
  const reads = readableOnly(store);
  const found: TeamToken[] = [];
  for (const team of await loadTeams(store, owner.organization.id)) {
    if (!team.name.toLowerCase().includes(teamNameContains.toLowerCase())) continue;
    if (decideTeamAccess(owner, team)?.canManageTokens === true) {
      found.push(...(await loadTeamTokens(reads, team)));
    }
  }
  const nowMs = clock.nowMs();
  const order = ORDERS[sort.by];
  return found
    .filter(({ token }) => hasExpired === undefined || isExpired(token, nowMs) === hasExpired)
    .sort((a, b) => (sort.isDescending ? order(b, a) : order(a, b)))
    .map(({ token }) => token);
};
