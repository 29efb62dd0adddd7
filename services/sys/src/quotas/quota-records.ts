import {
  collection,
  deriveView,
  type Reads,
  type Store,
  singleRecord,
  type Transaction,
} from '@keelson/storage';
import type { OnDamage } from '../damage/damage-register.ts';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import { QuotaIndex } from './domain/quota-index.ts';
import {
  DEFAULT_QUOTA_SETTINGS,
  type QuotaSettings,
  quotaSettingsShape,
  type RateQuota,
  rateQuotaShape,
} from './domain/rate-quota.ts';

/** Keys: "<namespace id>/<name>". */
const quotas = collection('rate-quotas', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: rateQuotaShape,
  owner: OF_NAMESPACE,
});

const settings = singleRecord('core/quota-settings', {
  scope: 'shared',
  version: 1,
  shape: quotaSettingsShape,
});

/** The quotas of all namespaces that can be read, sorted by namespace and name. */
export const listQuotas = async (reads: Reads): Promise<readonly RateQuota[]> =>
  (await quotas.readableEntries(reads)).entries.map(([, quota]) => quota);

const keyOf = ({ namespaceId, name }: Pick<RateQuota, 'namespaceId' | 'name'>): string =>
  `${namespaceId}/${name}`;

export const writeQuota = (tx: Transaction, quota: RateQuota): void =>
  quotas.write(tx, keyOf(quota), quota);

export const deleteQuotaRecord = (tx: Transaction, quota: RateQuota): void =>
  quotas.delete(tx, keyOf(quota));

/** Deletes the quota with a name, which no two have, even if it cannot be read. */
export const deleteQuotaNamed = async (tx: Transaction, name: string): Promise<void> => {
  const { entries, damaged } = await quotas.readableEntries(tx);
  for (const key of [...entries.map(([found]) => found), ...damaged])
    if (key.endsWith(`/${name}`)) quotas.delete(tx, key);
};

export const findQuotaSettings = async (reads: Reads): Promise<QuotaSettings> =>
  (await settings.find(reads)) ?? DEFAULT_QUOTA_SETTINGS;

export const writeQuotaSettings = (tx: Transaction, given: QuotaSettings): void =>
  settings.write(tx, given);

/**
 * All quotas, as of each call.
 * @param onDamage called with the keys of damaged quotas at every read
 */
export const followQuotas = (store: Store, onDamage: OnDamage): (() => Promise<QuotaIndex>) =>
  deriveView(store, [quotas.prefix, settings.path], async (reads) => {
    const { entries, damaged } = await quotas.readableEntries(reads);
    onDamage(damaged);
    return new QuotaIndex(
      entries.map(([, quota]) => quota),
      await findQuotaSettings(reads),
    );
  });
