/** The newest deliveries to a webhook with their outcomes, used to recognize replays. */
import type { Reads, Transaction } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';

export const DELIVERY_OUTCOMES = ['queued', 'done', 'ignored', 'retried', 'failed'] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

/** The effect of a delivery on one workspace. */
export interface DeliveryEffect {
  readonly workspaceId: string;
  /** A run, a configuration without a run, or the reason why there is neither. */
  readonly text: string;
}

export interface StoredDelivery {
  /** `whd-…`. */
  readonly id: string;
  /** As the provider names it. */
  readonly deliveryId: string;
  readonly event: string;
  readonly receivedAtMs: number;
  readonly outcome: DeliveryOutcome;
  /** Why it is ignored or failed. */
  readonly detail: string | null;
  readonly effects: readonly DeliveryEffect[];
  /** Digests by which it is looked up. */
  readonly digests: readonly string[];
}

/** `whk-…`, time of arrival with 13 digits, "-", `whd-…`. */
export const repositoryDeliveries = keyedRecords<StoredDelivery>('shared/repository-deliveries/');

/** `whk-…`, digest of the delivery's id or of its body. */
export const deliveryDigests = keyedRecords<Record<never, never>>('shared/delivery-digests/');

/** Deliveries of one webhook that are kept. */
export const KEPT_DELIVERIES = 200;

const removeDelivery = async (tx: Transaction, hookId: string, key: string): Promise<void> => {
  const delivery = await repositoryDeliveries.find(tx, hookId, key);
  for (const digest of delivery?.digests ?? []) deliveryDigests.delete(tx, hookId, digest);
  repositoryDeliveries.delete(tx, hookId, key);
};

/** Writes a delivery, and deletes the oldest ones above the limit. */
export const storeDelivery = async (
  tx: Transaction,
  hookId: string,
  delivery: StoredDelivery,
): Promise<string> => {
  const kept = await repositoryDeliveries.keys(tx, [hookId]);
  for (const old of kept.slice(0, Math.max(0, kept.length + 1 - KEPT_DELIVERIES)))
    await removeDelivery(tx, hookId, old);
  const key = `${String(delivery.receivedAtMs).padStart(13, '0')}-${delivery.id}`;
  for (const digest of delivery.digests) deliveryDigests.write(tx, [hookId, digest], {});
  repositoryDeliveries.write(tx, [hookId, key], delivery);
  return key;
};

/** Records the outcome of a delivery, unless it has been deleted. */
export const noteDelivery = async (
  tx: Transaction,
  hookId: string,
  key: string | null,
  change: Partial<Pick<StoredDelivery, 'outcome' | 'detail' | 'effects'>>,
): Promise<void> => {
  const delivery = await repositoryDeliveries.find(tx, hookId, key ?? '');
  if (delivery === undefined || key === null) return;
  repositoryDeliveries.write(tx, [hookId, key], { ...delivery, ...change });
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

export const removeDeliveriesOf = async (tx: Transaction, hookId: string): Promise<void> => {
  for (const key of await repositoryDeliveries.keys(tx, [hookId]))
    await removeDelivery(tx, hookId, key);
};
