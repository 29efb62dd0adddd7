/** Lists of events, newest first. */
import { KeelsonError } from '@keelson/errors';
import type { Page } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly, type Store } from '@keelson/storage';
import { inPortions } from '../base/in-portions.ts';
import { notFound } from '../base/not-found.ts';
import type { ServiceContext } from '../base/service-context.ts';
import { decideOrganizationPermissions } from '../identity/access/domain/organization-permissions.ts';
import { requireOrganization } from '../identity/access/organization-access-operations.ts';
import type { Organization } from '../identity/model/domain/organization.ts';
import {
  findOrganizationByName,
  organizationRecords,
} from '../identity/model/organization-records.ts';
import { isOrganizationOff } from '../identity/model/organization-switch-records.ts';
import { teamRecords } from '../identity/model/team-records.ts';
import { findUserIdByName, userRecords } from '../identity/model/user-records.ts';
import { findWorkspaceByName, workspaceRecords } from '../workspaces/model/workspace-records.ts';
import { auditEvents, eventKeys } from './audit-event-records.ts';
import type { AuditEvent } from './domain/audit-event.ts';
import { isUntil, type KeyFilter, matches, parseEventKey } from './domain/event-key.ts';

/** Which events are listed, in the words of a caller. */
export interface EventFilter extends Omit<KeyFilter, 'actorId' | 'workspaceId'> {
  /** Name of a user, or the id of a user, a team, the organization or a run. */
  readonly actor?: string | undefined;
  /** Name or id of the workspace that is changed, or to which what is changed belongs. */
  readonly workspace?: string | undefined;
}

/** An event with names that are not stored, because they change and end with what they name. */
export interface NamedEvent {
  readonly event: AuditEvent;
  /** Null for an actor that no longer exists. */
  readonly actorName: string | null;
  /** Null unless the event concerns a person who still has an account. */
  readonly userName: string | null;
  /** Name of the workspace to which the resource belongs; null if there is none any more. */
  readonly workspaceName: string | null;
}

export interface EventPage {
  readonly events: readonly NamedEvent[];
  readonly totalCount: number;
}

const resolveFilter = async (
  reads: Reads,
  organizationId: string,
  { actor, workspace, ...others }: EventFilter,
): Promise<KeyFilter> => ({
  ...others,
  ...(actor && { actorId: (await findUserIdByName(reads, actor)) ?? actor }),
  ...(workspace && {
    workspaceId: (await findWorkspaceByName(reads, organizationId, workspace))?.id ?? workspace,
  }),
});

/** Keys of the events on a page, and the number of all that match. */
const findKeys = async (
  reads: Reads,
  organizationId: string,
  filter: KeyFilter,
  { number, size }: Page,
): Promise<{ readonly keys: readonly string[]; readonly totalCount: number }> => {
  const { afterMs = Number.NEGATIVE_INFINITY } = filter;
  const found: string[] = [];
  let totalCount = 0;
  for await (const keys of eventKeys(reads, organizationId)) {
    for (const key of keys) {
      const facts = parseEventKey(key);
      if (isUntil(facts, afterMs)) return { keys: found, totalCount };
      if (!matches(facts, filter)) continue;
      if (totalCount >= (number - 1) * size && found.length < size) found.push(key);
      totalCount += 1;
    }
  }
  return { keys: found, totalCount };
};

const findActorName = async (
  reads: Reads,
  { kind, id }: AuditEvent['actor'],
): Promise<string | null> => {
  if (kind === 'user') return (await userRecords.find(reads, id))?.username ?? null;
  if (kind === 'team') return (await teamRecords.find(reads, id))?.name ?? null;
  if (kind === 'organization') return (await organizationRecords.find(reads, id))?.name ?? null;
  return id;
};

const withNames = async (reads: Reads, event: AuditEvent): Promise<NamedEvent> => {
  const { workspaceId, userId } = event.resource;
  return {
    event,
    actorName: await findActorName(reads, event.actor),
    userName: (userId && (await userRecords.find(reads, userId))?.username) ?? null,
    workspaceName: (workspaceId && (await workspaceRecords.find(reads, workspaceId))?.name) ?? null,
  };
};

const loadPage = async (
  store: Store,
  { id: organizationId }: Organization,
  given: EventFilter,
  page: Page,
): Promise<EventPage> => {
  const filter = await resolveFilter(store, organizationId, given);
  const { keys, totalCount } = await findKeys(store, organizationId, filter, page);
  const reads = readableOnly(store);
  const events = await inPortions(keys, async (key) => {
    const event = await auditEvents.find(reads, organizationId, key);
    return event && withNames(reads, event);
  });
  return { events: events.filter((event) => event !== undefined), totalCount };
};

/**
 * The events of an organization, for its owners and its token.
 * @throws KeelsonError `workspace.not_found`
 */
export const listEvents = async (
  { store }: ServiceContext,
  principal: Principal,
  organizationName: string,
  filter: EventFilter,
  page: Page,
): Promise<EventPage> => {
  const { organization, caller } = await requireOrganization(store, principal, organizationName);
  if (!decideOrganizationPermissions(caller).canReadAuditTrail) throw notFound('organization');
  return loadPage(store, organization, filter, page);
};

/**
 * The events of the organization whose token, or whose token for the audit trail, the caller has.
 * @throws KeelsonError `workspace.not_found` for every other caller, `workspace.organization_off`
 */
export const listOwnEvents = async (
  { store }: ServiceContext,
  { kind, organization: name }: Principal,
  afterMs: number | undefined,
  page: Page,
): Promise<EventPage> => {
  const isReader = kind === 'organization' || kind === 'audit-trail';
  const organization = isReader ? await findOrganizationByName(store, name) : undefined;
  if (organization === undefined) throw notFound('organization');
  if (await isOrganizationOff(store, organization.id))
    throw new KeelsonError('workspace.organization_off', { name });
  return loadPage(store, organization, { afterMs }, page);
};
