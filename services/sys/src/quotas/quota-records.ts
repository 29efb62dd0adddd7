import {
  collection,
  deriveView,
  type Reads,
  type RecordCollection,
  type Store,
  singleRecord,
  type Transaction,
} from '@keelson/storage';
import type { OnDamage } from '../damage/damage-register.ts';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import { type LeaseQuota, leaseQuotaShape } from './domain/lease-quota.ts';
import { PlacedQuotas } from './domain/placed-quotas.ts';
import { QuotaIndex } from './domain/quota-index.ts';
import { QUOTA_UPGRADES } from './domain/quota-upgrades.ts';
import {
  DEFAULT_QUOTA_SETTINGS,
  type QuotaPlace,
  type QuotaSettings,
  quotaSettingsShape,
  type RateQuota,
  rateQuotaShape,
} from './domain/rate-quota.ts';

/** Keys: "<namespace id>/<name>". */
const quotas = collection('rate-quotas', {
  scope: 'shared',
  version: 2,
  upgrades: QUOTA_UPGRADES,
  keys: 'paths',
  shape: rateQuotaShape,
  owner: OF_NAMESPACE,
});

/** Keys as of rate limits. */
const leaseQuotas = collection('lease-quotas', {
  scope: 'shared',
  version: 2,
  upgrades: QUOTA_UPGRADES,
  keys: 'paths',
  shape: leaseQuotaShape,
  owner: OF_NAMESPACE,
});

const settings = singleRecord('core/quota-settings', {
  scope: 'shared',
  version: 1,
  shape: quotaSettingsShape,
});

type Named = QuotaPlace & { readonly name: string };

/** The records of one kind of quotas. */
export interface QuotaRecords<Q extends Named> {
  /** The quotas of all namespaces that can be read, sorted by namespace and name. */
  list(reads: Reads): Promise<readonly Q[]>;
  write(tx: Transaction, quota: Q): void;
  delete(tx: Transaction, quota: Named): void;
  /** Deletes the quota with a name, which no two of a kind have, even if it cannot be read. */
  deleteNamed(tx: Transaction, name: string): Promise<void>;
}

const keyOf = ({ namespaceId, name }: Named): string => `${namespaceId}/${name}`;

const quotaRecords = <Q extends Named>(
  records: Pick<RecordCollection<Q>, 'readableEntries' | 'write' | 'delete'>,
): QuotaRecords<Q> => ({
  list: async (reads) => (await records.readableEntries(reads)).entries.map(([, quota]) => quota),
  write: (tx, quota) => records.write(tx, keyOf(quota), quota),
  delete: (tx, quota) => records.delete(tx, keyOf(quota)),
  deleteNamed: async (tx, name) => {
    const { entries, damaged } = await records.readableEntries(tx);
    for (const key of [...entries.map(([found]) => found), ...damaged])
      if (key.endsWith(`/${name}`)) records.delete(tx, key);
  },
});

export const rateQuotaRecords: QuotaRecords<RateQuota> = quotaRecords(quotas);
export const leaseQuotaRecords: QuotaRecords<LeaseQuota> = quotaRecords(leaseQuotas);

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

/** All quotas of leases, as of each call. @param onDamage as above */
export const followLeaseQuotas = (
  store: Store,
  onDamage: OnDamage,
): (() => Promise<PlacedQuotas<LeaseQuota>>) =>
  deriveView(store, [leaseQuotas.prefix], async (reads) => {
    const { entries, damaged } = await leaseQuotas.readableEntries(reads);
    onDamage(damaged);
    return new PlacedQuotas(entries.map(([, quota]) => quota));
  });
