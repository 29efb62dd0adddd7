/**
 * The last segment of the key of an event. It holds what lists are filtered by, so that events are stored without a
 * table and without an index: every change of the API waits for what is written with it.
 */
import { ORDERS_PER_MS } from '../../base/creation-order.ts';
import type { AuditEvent } from './audit-event.ts';

/** Facts about an event that its key tells. None of them is a secret: keys are not encrypted. */
export interface KeyFacts {
  readonly order: number;
  readonly actorId: string;
  readonly resourceType: string;
  readonly workspaceId: string;
}

/** Orders are subtracted from it, so that the newest event comes first. It is in the year 2255. */
const LAST_ORDER = 9_000_000_000_000_000;

const SEPARATOR = '.';

export const toEventKey = ({ id, order, actor, resource }: AuditEvent): string =>
  [
    String(LAST_ORDER - order).padStart(16, '0'),
    actor.id,
    resource.type,
    resource.workspaceId ?? '',
    id,
  ].join(SEPARATOR);

export const parseEventKey = (key: string): KeyFacts => {
  const [left = '', actorId = '', resourceType = '', workspaceId = ''] = key.split(SEPARATOR);
  return { order: LAST_ORDER - Number(left), actorId, resourceType, workspaceId };
};

/** Conditions that all hold; undefined and empty ones for any. */
export interface KeyFilter {
  readonly actorId?: string | undefined;
  readonly resourceTypes?: readonly string[];
  readonly workspaceId?: string | undefined;
  /** Events after this time. */
  readonly afterMs?: number | undefined;
  /** Events before this time. */
  readonly beforeMs?: number | undefined;
}

/** Whether an event, and so all that come after it in the list, happened at this time or before. */
export const isUntil = ({ order }: KeyFacts, atMs: number): boolean =>
  order < (atMs + 1) * ORDERS_PER_MS;

export const matches = (
  facts: KeyFacts,
  { actorId, resourceTypes = [], workspaceId, beforeMs }: KeyFilter,
): boolean =>
  (actorId === undefined || facts.actorId === actorId) &&
  (workspaceId === undefined || facts.workspaceId === workspaceId) &&
  (resourceTypes.length === 0 || resourceTypes.includes(facts.resourceType)) &&
  (beforeMs === undefined || facts.order < beforeMs * ORDERS_PER_MS);
