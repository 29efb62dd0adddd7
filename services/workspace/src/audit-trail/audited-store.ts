/**
 * The one place that every change of the API passes: the transactions of the service's store. What a request writes
 * there becomes events in the same commit, so that no route can forget them and none is recorded without its change.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly, type Store, type Transaction } from '@keelson/storage';
import { createFineOrder } from '../base/creation-order.ts';
import { findOrganizationByName } from '../identity/model/organization-records.ts';
import { storeAuditEvent } from './audit-event-records.ts';
import {
  AUDITED_KINDS,
  type AuditedKind,
  type DescribedResource,
  findOwnerId,
} from './audited-kinds.ts';
import { ACTOR_KINDS, type ActorKind } from './domain/audit-event.ts';
import {
  type ActedChange,
  type ChangeKind,
  type ResourceChange,
  selectEvents,
} from './domain/event-selection.ts';
import { WatchedTransaction } from './watched-transaction.ts';

/** The request for which transactions run. */
interface ChangingRequest {
  /** Path of the route. */
  readonly path: string;
  readonly requestId: string;
  readonly principal: Principal;
}

interface AuditedChange extends ResourceChange {
  readonly name: string | null;
  readonly userId: string | null;
  readonly organizationId: string;
}

/** A record that a transaction has changed; `value` is undefined if it has deleted it. */
interface ChangedRecord {
  readonly kind: AuditedKind;
  readonly key: readonly string[];
  readonly value: unknown;
}

const PREFIX_END = /^shared\/[^/]+\//;

const auditedRecords = (written: ReadonlyMap<string, unknown>): readonly ChangedRecord[] => {
  const found: ChangedRecord[] = [];
  for (const [path, value] of written) {
    const prefix = PREFIX_END.exec(path)?.[0] ?? '';
    const kind = AUDITED_KINDS.get(prefix);
    if (kind !== undefined) found.push({ kind, key: path.slice(prefix.length).split('/'), value });
  }
  return found;
};

/** Ids of everything that a resource belongs to, the nearest first. */
const ancestorsOf = async (
  now: Reads,
  before: Reads,
  { within }: DescribedResource,
): Promise<readonly string[]> => {
  const ids = [...within];
  // Grows while it is walked.
  for (const id of ids) {
    const owner = (await findOwnerId(now, id)) ?? (await findOwnerId(before, id));
    if (owner !== undefined && !ids.includes(owner)) ids.push(owner);
  }
  return ids;
};

const changeOf = (record: ChangedRecord, former: unknown): ChangeKind | undefined => {
  if (record.kind.isPart) return 'update';
  if (record.value === undefined) return former === undefined ? undefined : 'destroy';
  return former === undefined ? 'create' : 'update';
};

const toChange = async (
  now: Reads,
  before: Reads,
  record: ChangedRecord,
): Promise<AuditedChange | undefined> => {
  const { kind, key, value } = record;
  const former = kind.isPart ? undefined : await kind.find(before, key);
  const change = changeOf(record, former);
  if (change === undefined) return undefined;
  const described = await kind.describe(now, value ?? former, key);
  if (described === undefined) return undefined;
  const { id, name, userId = null } = described;
  const ancestors = await ancestorsOf(now, before, described);
  const organizationId = [id, ...ancestors].find((one) => one.startsWith('org-'));
  if (organizationId === undefined) return undefined;
  return { type: kind.type, id, name, userId, change, ancestors, organizationId };
};

/** One change of each resource: parts of it may have changed as well. */
const changesOf = async (
  tx: Transaction,
  store: Store,
  records: readonly ChangedRecord[],
): Promise<readonly AuditedChange[]> => {
  // A damaged record is not described, and hinders no change.
  const [now, before] = [readableOnly(tx), readableOnly(store)];
  const changes = new Map<string, AuditedChange>();
  for (const record of records) {
    const change = await toChange(now, before, record);
    if (change === undefined) continue;
    const known = changes.get(change.id);
    if (known === undefined || known.change === 'update') changes.set(change.id, change);
  }
  return [...changes.values()];
};

/** A new organization begins its trail, and that of a removed one ends with it. */
const isOfLastingOrganization = ({ type, change }: AuditedChange): boolean =>
  type !== 'organization' || change === 'update';

const isActorKind = (kind: string): kind is ActorKind =>
  (ACTOR_KINDS as readonly string[]).includes(kind);

/** The token of an organization names it, and the name may change. */
const actorIdOf = async (tx: Transaction, { kind, id }: Principal): Promise<string> =>
  kind === 'organization' ? ((await findOrganizationByName(tx, id))?.id ?? id) : id;

const workspaceIdOf = ({ type, id, ancestors }: AuditedChange): string | null =>
  type === 'workspace' ? id : (ancestors.find((one) => one.startsWith('ws-')) ?? null);

const storeEvents = async (
  tx: Transaction,
  { requestId, principal }: ChangingRequest,
  events: readonly ActedChange<AuditedChange>[],
  nextOrder: () => number,
): Promise<void> => {
  if (events.length === 0 || !isActorKind(principal.kind)) return;
  const actor = {
    kind: principal.kind,
    id: await actorIdOf(tx, principal),
    tokenId: principal.tokenId,
  };
  for (const event of events) {
    const { type, id, name, userId, action, organizationId } = event;
    const workspaceId = workspaceIdOf(event);
    const resource = { type, id, name, action, workspaceId, userId };
    storeAuditEvent(tx, {
      id: randomUUID(),
      organizationId,
      order: nextOrder(),
      requestId,
      actor,
      resource,
    });
  }
};

export interface AuditTrail {
  /** The store whose transactions record what they change. */
  readonly store: Store;
  /** The route; transactions that run while it is handled are those of its caller. */
  readonly watch: (route: Route) => Route;
}

/**
 * Transactions outside a request are not recorded: they do what a recorded change has asked for, or what the control
 * plane does by itself.
 */
export const createAuditTrail = (store: Store, clock: Clock): AuditTrail => {
  const nextOrder = createFineOrder(clock);
  const requests = new AsyncLocalStorage<ChangingRequest>();
  const transact: Store['transact'] = (body, options) => {
    const request = requests.getStore();
    if (request === undefined) return store.transact(body, options);
    return store.transact(async (tx) => {
      const watched = new WatchedTransaction(tx);
      const result = await body(watched);
      const records = auditedRecords(watched.written);
      if (records.length > 0) {
        const changes = await changesOf(tx, store, records);
        const events = selectEvents(request.path, changes).filter(isOfLastingOrganization);
        await storeEvents(tx, request, events, nextOrder);
      }
      return result;
    }, options);
  };
  return {
    // A store of a service is an object of functions (`guardWrites`).
    store: { ...store, transact },
    watch: (route) => ({
      ...route,
      handle: (exchange) => {
        const { principal, requestId } = exchange.head;
        if (principal === undefined || !isActorKind(principal.kind)) return route.handle(exchange);
        return requests.run({ path: route.path, requestId, principal }, () =>
          route.handle(exchange),
        );
      },
    }),
  };
};
