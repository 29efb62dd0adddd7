/** Tokens of all teams of an organization, as far as the caller may manage them. */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { requireOrganization } from '../access/access-operations.ts';
import type { ServiceContext } from '../service-context.ts';
import type { Team } from '../teams/domain/team.ts';
import { decideTeamAccess } from '../teams/team-access.ts';
import { teamNames, teamRecords } from '../teams/team-records.ts';
import { userRecords } from '../users/user-records.ts';
import { type ApiToken, isExpired } from './domain/token.ts';
import { listTokensOf } from './token-operations.ts';

export const TEAM_TOKEN_SORTS = ['team-name', 'created-by', 'expired-at', 'last-used-at'] as const;
export type TeamTokenSort = (typeof TEAM_TOKEN_SORTS)[number];

export interface TeamTokenQuery {
  /** Part of the team's name, in any case. */
  readonly teamNameContains: string;
  /** undefined: both. */
  readonly hasExpired: boolean | undefined;
  readonly sort: { readonly by: TeamTokenSort; readonly isDescending: boolean };
}

interface TeamToken {
  readonly token: ApiToken;
  readonly team: Team;
  readonly createdBy: string;
}

const loadTeamTokens = async (reads: Reads, team: Team): Promise<readonly TeamToken[]> => {
  const tokens = await listTokensOf(reads, team.id);
  return Promise.all(
    tokens.map(async (token) => {
      const user = await userRecords.find(reads, token.createdById ?? '');
      return { token, team, createdBy: user?.username ?? '' };
    }),
  );
};

const compare = <T extends string | number>(a: T, b: T): number => (a < b ? -1 : Number(a > b));

const ORDERS: Readonly<Record<TeamTokenSort, (a: TeamToken, b: TeamToken) => number>> = {
  'team-name': (a, b) => compare(a.team.name, b.team.name),
  'created-by': (a, b) => compare(a.createdBy, b.createdBy),
  // One that never expires comes last.
  'expired-at': (a, b) =>
    compare(a.token.expiresAtMs ?? Number.MAX_VALUE, b.token.expiresAtMs ?? Number.MAX_VALUE),
  // The last use is not kept.
  'last-used-at': () => 0,
};

/** By team, then in the order of their making, where the sort says nothing else. */
export const listTeamTokens = async (
  { store, clock }: ServiceContext,
  principal: Principal,
  organizationName: string,
  { teamNameContains, hasExpired, sort }: TeamTokenQuery,
): Promise<readonly ApiToken[]> => {
  const owner = await requireOrganization(store, principal, organizationName);
  const names = await teamNames.keys(store, [owner.organization.id]);
  const found: TeamToken[] = [];
  for (const name of names) {
    if (!name.toLowerCase().includes(teamNameContains.toLowerCase())) continue;
    const place = await teamNames.find(store, owner.organization.id, name);
    const team = place && (await teamRecords.find(store, place.id));
    if (team !== undefined && decideTeamAccess(owner, team)?.canManageTokens === true) {
      found.push(...(await loadTeamTokens(store, team)));
    }
  }
  const nowMs = clock.nowMs();
  const order = ORDERS[sort.by];
  return found
    .filter(({ token }) => hasExpired === undefined || isExpired(token, nowMs) === hasExpired)
    .sort((a, b) => (sort.isDescending ? order(b, a) : order(a, b)))
    .map(({ token }) => token);
};
