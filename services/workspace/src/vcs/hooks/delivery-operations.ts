/** Deliveries of webhooks: verified, recorded, and queued as work. */
import { createHash } from 'node:crypto';
import { JSON_API_LIMITS, parseJson } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { newResourceId } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { requireWorkspace } from '../../workspaces/access/access-operations.ts';
import {
  findRepositoryHookById,
  queueRepositoryWork,
  repositoryWork,
} from '../../workspaces/model/repository-records.ts';
import type { Delivery } from '../providers/provider.ts';
import { loadRepository } from '../providers/remote-repository-operations.ts';
import type { VcsContext } from '../seams/vcs-context.ts';
import {
  deliveryDigests,
  listDeliveries,
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

/** Pieces of work of one organization above which its deliveries are refused. */
export const MAX_WAITING = 2000;

const requireRoom = async (reads: Reads, organizationId: string): Promise<void> => {
  const waiting = await repositoryWork.keys(reads, [organizationId], { limit: MAX_WAITING });
  if (waiting.length >= MAX_WAITING)
    throw new KeelsonError('workspace.too_many_deliveries', { limit: MAX_WAITING });
};

/** Longest id and name of a delivery that are kept. */
const MAX_KEPT_LENGTH = 200;

/**
 * Accepts a delivery: its events are queued as work when this returns. A provider whose repository the
 * webhook is for has signed it, and it has not arrived before.
 * @throws KeelsonError `workspace.not_found` for an unknown webhook, `workspace.delivery_not_authentic`,
 *   `workspace.delivery_replayed`, `workspace.too_many_deliveries`, `request.invalid`
 */
export const receiveDelivery = async (
  { store, clock }: VcsContext,
  hookId: string,
  delivery: Delivery,
): Promise<void> => {
  const hook = await findRepositoryHookById(store, hookId);
  const found = hook && (await loadRepository(store, hook));
  if (hook === undefined || found === undefined) throw notFound('webhook');
  const { provider } = found;
  if (!provider.isAuthentic(delivery, hook.secret))
    throw new KeelsonError('workspace.delivery_not_authentic');
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
      if ((await deliveryDigests.find(tx, hookId, digest)) !== undefined)
        throw new KeelsonError('workspace.delivery_replayed');
    }
    if (events.length > 0) await requireRoom(tx, hook.organizationId);
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
    events.forEach((reported, index) =>
      queueRepositoryWork(
        tx,
        hook.organizationId,
        { kind: 'fetch', hookId, event: reported, deliveryKey },
        { dueAtMs: receivedAtMs, name: `${stored.id}-${index}` },
      ),
    );
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
