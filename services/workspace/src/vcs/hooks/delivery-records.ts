/** The newest deliveries to a webhook with their outcomes, used to recognize replays. */

import { collection, type Reads, type Transaction } from '@keelson/storage';
import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const DELIVERY_OUTCOMES = ['queued', 'done', 'ignored', 'retried', 'failed'] as const;
export const deliveryOutcomeShape = Type.Enum(DELIVERY_OUTCOMES);

/** The effect of a delivery on one workspace. */
export const deliveryEffectShape = Type.Object({
  workspaceId: Type.String(),
  /** A run, a configuration without a run, or the reason why there is neither. */
  text: Type.String(),
});
export type DeliveryEffect = Shaped<typeof deliveryEffectShape>;

export const storedDeliveryShape = Type.Object({
  /** `whd-…`. */
  id: Type.String(),
  /** As the provider names it. */
  deliveryId: Type.String(),
  event: Type.String(),
  receivedAtMs: Type.Number(),
  outcome: deliveryOutcomeShape,
  /** Why it is ignored or failed. */
  detail: nullable(Type.String()),
  effects: Type.Array(deliveryEffectShape),
  /** Digests by which it is looked up. */
  digests: Type.Array(Type.String()),
});
export type StoredDelivery = Shaped<typeof storedDeliveryShape>;

/** `whk-…`, time of arrival with 13 digits, "-", `whd-…`. */
export const repositoryDeliveries = collection('repository-deliveries', {
  scope: 'shared',
  version: 1,
  shape: storedDeliveryShape,
  owner: { kind: 'repository-hook', by: '*' },
  index: ['digests'],
});

/** Whether the webhook has received a delivery whose id or body has the digest. */
export const hasDelivery = async (reads: Reads, hookId: string, digest: string): Promise<boolean> =>
  (await repositoryDeliveries.by.digests.keys(reads, digest)).includes(`${hookId}/`);

/** Deliveries of one webhook that are kept. */
export const KEPT_DELIVERIES = 200;

/** Writes a delivery, and deletes the oldest ones above the limit. */
export const storeDelivery = async (
  tx: Transaction,
  hookId: string,
  delivery: StoredDelivery,
): Promise<string> => {
  const kept = await repositoryDeliveries.keys(tx, [hookId]);
  for (const old of kept.slice(0, Math.max(0, kept.length + 1 - KEPT_DELIVERIES)))
    await repositoryDeliveries.delete(tx, hookId, old);
  const key = `${String(delivery.receivedAtMs).padStart(13, '0')}-${delivery.id}`;
  await repositoryDeliveries.write(tx, [hookId, key], delivery);
  return key;
};

/** Records the outcome of a delivery, unless it has been deleted. */
export const recordDelivery = async (
  tx: Transaction,
  hookId: string,
  key: string | null,
  change: Partial<Pick<StoredDelivery, 'outcome' | 'detail' | 'effects'>>,
): Promise<void> => {
  const delivery = await repositoryDeliveries.find(tx, hookId, key ?? '');
  if (delivery === undefined || key === null) return;
  await repositoryDeliveries.write(tx, [hookId, key], { ...delivery, ...change });
};

/** Newest first. */
export const listDeliveries = async (
  reads: Reads,
  hookId: string,
): Promise<readonly StoredDelivery[]> => {
  const keys = await repositoryDeliveries.keys(reads, [hookId]);
  const found = await Promise.all(keys.map((key) => repositoryDeliveries.find(reads, hookId, key)));
  return found.filter((delivery) => delivery !== undefined).toReversed();
};
