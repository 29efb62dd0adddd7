import { keyedRecords } from '../records/keyed-records.ts';
import type { Team } from './domain/team.ts';

/** Keyed by `team-…`. */
export const teamRecords = keyedRecords<Team>('shared/teams/');

/** Organization id, name -> team id. */
export const teamNames = keyedRecords<{ readonly id: string }>('shared/team-names/');

/** A user's place in one organization. */
export interface Membership {
  /** `ou-…`. */
  readonly id: string;
  readonly teamIds: readonly string[];
  readonly createdAtMs: number;
}

/** Keyed by organization id, user id. */
export const membershipRecords = keyedRecords<Membership>('shared/memberships/');

/** Membership id -> where it is. */
export const membershipPlaces = keyedRecords<{
  readonly organizationId: string;
  readonly userId: string;
}>('shared/membership-places/');

/** Organizations of a user, keyed by user id, organization id. */
export const userOrganizations = keyedRecords<Record<never, never>>('shared/user-organizations/');
