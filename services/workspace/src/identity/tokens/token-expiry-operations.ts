/** When a new token ends, as its creator asks and its organizations allow. */
import { refuseInvalid } from '@keelson/jsonapi';
import { type Reads, readableOnly } from '@keelson/storage';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import type { Organization } from '../model/domain/organization.ts';
import { defaultEndMs, type TokenOwnerKind } from '../model/domain/token.ts';
import {
  LIMITS_OF_OWNERS,
  type LimitedTokenType,
  longestLifetimeMs,
} from '../model/domain/token-lifetime.ts';
import { organizationRecords } from '../model/organization-records.ts';
import { listOrganizationsOf, teamRecords } from '../model/team-records.ts';

interface Owner {
  readonly kind: TokenOwnerKind;
  readonly id: string;
}

const present = <T>(value: T | undefined): value is T => value !== undefined;

/** The ids of the organizations to which a token of the owner gives access, and the kind of token it is to them. */
const findOrganizationIds = async (
  reads: Reads,
  { kind, id }: Owner,
): Promise<{ readonly type: LimitedTokenType; readonly ids: readonly string[] } | undefined> => {
  const type = LIMITS_OF_OWNERS[kind];
  if (type === undefined) return undefined;
  if (kind === 'user') return { type, ids: await listOrganizationsOf(reads, id) };
  if (kind !== 'team') return { type, ids: [id] };
  const team = await teamRecords.find(reads, id);
  return { type, ids: team === undefined ? [] : [team.organizationId] };
};

interface Limit {
  readonly organization: Organization;
  readonly longestMs: number;
}

const loadLimits = async (reads: Reads, owner: Owner): Promise<readonly Limit[]> => {
  const found = await findOrganizationIds(reads, owner);
  if (found === undefined) return [];
  const { type, ids } = found;
  const organizations = await Promise.all(
    ids.map((id) => organizationRecords.find(readableOnly(reads), id)),
  );
  return organizations
    .filter(present)
    .map((organization) => ({ organization, longestMs: longestLifetimeMs(organization, type) }))
    .filter(({ longestMs }) => longestMs < Number.POSITIVE_INFINITY);
};

const shortestOf = (limits: readonly Limit[], lifetimeMs: number): number =>
  Math.min(lifetimeMs, ...limits.map(({ longestMs }) => longestMs));

/** The end of a token that lives as long as given, or shorter where an organization of the owner asks for it. */
export const endWithin = async (
  reads: Reads,
  owner: Owner,
  lifetimeMs: number,
  nowMs: number,
): Promise<number> => nowMs + shortestOf(await loadLimits(reads, owner), lifetimeMs);

/** The end of a token whose creator gives none: agents keep the token that their machine was set up with. */
export const defaultEnd = async (
  reads: Reads,
  owner: Owner,
  nowMs: number,
): Promise<number | null> =>
  owner.kind === 'agent-pool' ? null : endWithin(reads, owner, defaultEndMs(nowMs) - nowMs, nowMs);

export interface DecidedEnd {
  readonly expiresAtMs: number | null;
  readonly warnings: readonly string[];
}

/**
 * @param asked null for a token that does not end, undefined where the creator leaves it open
 * @throws KeelsonError `jsonapi.invalid_attribute` for a token of an organization or team that would live too long. A
 * token of a user may also be for other organizations, so that it is created, with a warning.
 */
export const decideEnd = async (
  reads: Reads,
  owner: Owner,
  asked: number | null | undefined,
  nowMs: number,
): Promise<DecidedEnd> => {
  if (asked === undefined)
    return { expiresAtMs: await defaultEnd(reads, owner, nowMs), warnings: [] };
  const lifetimeMs = asked === null ? Number.POSITIVE_INFINITY : asked - nowMs;
  const passed = (await loadLimits(reads, owner)).filter(({ longestMs }) => lifetimeMs > longestMs);
  const texts = passed.map(
    ({ organization, longestMs }) =>
      `the organization ${organization.name} accepts only tokens that end by ${new Date(nowMs + longestMs).toISOString()}`,
  );
  if (owner.kind !== 'user' && texts.length > 0)
    refuseInvalid(texts.map((text) => attributeViolation('expired-at', `expired-at: ${text}`)));
  return { expiresAtMs: asked, warnings: texts.map((text) => `expired-at: ${text}`) };
};
