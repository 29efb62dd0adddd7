/** Deliveries of webhooks: verified, recorded, and queued as work. */
import { createHash } from 'node:crypto';
import { JSON_API_LIMITS, parseJson } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { newResourceId } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { organizationRecords } from '../../identity/model/organization-records.ts';
import { isOrganizationOff } from '../../identity/model/organization-switch-records.ts';
import { requireWorkspace } from '../../workspaces/access/access-operations.ts';
import type { DeliveredEvent } from '../../workspaces/model/domain/repository-event.ts';
import { requireOAuthClientOn } from '../../workspaces/model/part-switch-records.ts';
import {
  findRepositoryHookById,
  queueRepositoryWork,
  repositoryWork,
} from '../../workspaces/model/repository-records.ts';
import { agentWork } from '../model/agent-work-records.ts';
import { type FetchWork, takeWaitingFetch, type WorkQueues } from '../model/waiting-fetches.ts';
import type { Delivery } from '../providers/provider.ts';
import { loadRepository } from '../providers/remote-repository-operations.ts';
import type { VcsContext } from '../seams/vcs-context.ts';
import {
  hasDelivery,
  listDeliveries,
  recordDelivery,
  type StoredDelivery,
  storeDelivery,
} from './delivery-records.ts';

const digestOf = (kind: 'id' | 'body', content: string | Uint8Array): string =>
  createHash('sha256').update(`${kind} `).update(content).digest('hex');

/** A push can name as many files as fit in a delivery. */
const PAYLOAD_LIMITS = {
  ...JSON_API_LIMITS.json,
  arrayElements: 500_000,
  documentEntries: 500_000,
};

/** The events of one branch or pull request have one name: only the newest of those that wait is fetched. */
const workNameFor = (hookId: string, deliveryId: string, event: DeliveredEvent): string => {
  if (event.kind === 'tag') return deliveryId;
  const subject = event.kind === 'push' ? `push ${event.branch}` : `pull-request ${event.number}`;
  const digest = createHash('sha256').update(subject).digest('hex');
  return `${hookId}-${digest.slice(0, 32)}`;
};

/** A newer event in place of an older one: the files that changed are those since the first of the pushes. */
const inPlaceOf = (older: FetchWork, newer: FetchWork): FetchWork =>
  older.event.kind === 'push' && newer.event.kind === 'push'
    ? { ...newer, event: { ...newer.event, baseSha: older.event.baseSha } }
    : newer;

/**
 * Replaces the event of waiting work by a newer one. The work keeps its place in the queue.
 * @returns the delivery of the older event; undefined if no such work waits
 */
const supersede = async (
  tx: Transaction,
  queues: WorkQueues,
  name: string,
  newer: FetchWork,
  nowMs: number,
): Promise<{ readonly deliveryKey: string | null } | undefined> => {
  const waiting = await takeWaitingFetch(tx, queues, name);
  if (waiting === undefined) return undefined;
  // After failures it may not be due for long; a push shows that the provider is there.
  const dueAtMs = Math.min(waiting.dueAtMs, nowMs);
  const work = inPlaceOf(waiting.work, newer);
  queueRepositoryWork(tx, queues.organizationId, work, { dueAtMs, name });
  return waiting.work;
};

/** @throws KeelsonError `workspace.too_many_deliveries` */
const queueEvent = async (
  tx: Transaction,
  queues: WorkQueues,
  work: FetchWork,
  { name, nowMs, limit }: { name: string; nowMs: number; limit: number },
): Promise<void> => {
  const { organizationId, poolId } = queues;
  const superseded = await supersede(tx, queues, name, work, nowMs);
  if (superseded !== undefined) {
    const detail = 'a newer event of the same branch or pull request arrived before it was fetched';
    const outcome = { outcome: 'ignored', detail } as const;
    await recordDelivery(tx, work.hookId, superseded.deliveryKey, outcome);
    return;
  }
  const waiting = await repositoryWork.keys(tx, [organizationId], { limit });
  const ofAgents = poolId === null ? [] : await agentWork.keys(tx, [poolId], { limit });
  if (waiting.length + ofAgents.length >= limit)
    throw new KeelsonError('workspace.too_many_deliveries', { limit });
  queueRepositoryWork(tx, organizationId, work, { dueAtMs: nowMs, name });
};

/** Longest id and name of a delivery that are kept. */
const MAX_KEPT_LENGTH = 200;

/**
 * Accepts a delivery: its events are queued as work when this returns. A provider whose repository the
 * webhook is for has signed it, and it has not arrived before.
 * @throws KeelsonError `workspace.not_found` for an unknown webhook, `workspace.delivery_not_authentic`,
 *   `workspace.delivery_replayed`, `workspace.too_many_deliveries`, `workspace.organization_off`,
 *   `workspace.oauth_client_off`, `request.invalid`
 */
export const receiveDelivery = async (
  { store, clock, repositoryWorkLimit }: VcsContext,
  hookId: string,
  delivery: Delivery,
): Promise<void> => {
  const hook = await findRepositoryHookById(store, hookId);
  const found = hook && (await loadRepository(store, hook));
  if (hook === undefined || found === undefined) throw notFound('webhook');
  const { provider, repository } = found;
  const { organizationId } = hook;
  const queues = { organizationId, poolId: repository.connection.agentPoolId };
  if (!provider.isAuthentic(delivery, hook.secret))
    throw new KeelsonError('workspace.delivery_not_authentic');
  if (await isOrganizationOff(store, organizationId)) {
    const organization = await organizationRecords.find(store, organizationId);
    throw new KeelsonError('workspace.organization_off', { name: organization?.name ?? '' });
  }
  await requireOAuthClientOn(store, found.client);
  const { headers, body } = delivery;
  const deliveryId = provider.deliveryId(headers)?.slice(0, MAX_KEPT_LENGTH) ?? '';
  const event = provider.eventName(headers).slice(0, MAX_KEPT_LENGTH);
  const events = provider.toEvents(event, parseJson(body, PAYLOAD_LIMITS));
  // The header with the id is not signed: a copy of a signed body is a replay under any id.
  const digests = [
    ...(deliveryId === '' ? [] : [digestOf('id', deliveryId)]),
    ...(provider.signsBody ? [digestOf('body', body)] : []),
  ];
  await store.transact(async (tx) => {
    for (const digest of digests) {
      if (await hasDelivery(tx, hookId, digest))
        throw new KeelsonError('workspace.delivery_replayed');
    }
    const receivedAtMs = clock.nowMs();
    const stored: StoredDelivery = {
      id: newResourceId('whd'),
      deliveryId,
      event,
      receivedAtMs,
      outcome: events.length > 0 ? 'queued' : 'ignored',
      detail: events.length > 0 ? null : 'this event starts no runs',
      effects: [],
      digests,
    };
    const deliveryKey = await storeDelivery(tx, hookId, stored);
    for (const [index, reported] of events.entries()) {
      const name = workNameFor(hookId, `${stored.id}-${index}`, reported);
      const work = { kind: 'fetch', hookId, event: reported, deliveryKey } as const;
      const placed = { name, nowMs: receivedAtMs, limit: repositoryWorkLimit };
      await queueEvent(tx, queues, work, placed);
    }
  });
};

/** Deliveries that concern the repository of a workspace, newest first; requires an administrator of it. */
export const listWorkspaceDeliveries = async (
  { store }: VcsContext,
  principal: Principal,
  workspaceId: string,
): Promise<readonly StoredDelivery[]> => {
  const { repositoryHook } = await requireWorkspace(store, principal, { workspaceId }, 'canUpdate');
  return repositoryHook === null ? [] : listDeliveries(store, repositoryHook.id);
};
