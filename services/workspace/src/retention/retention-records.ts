import type { Reads, Transaction } from '@keelson/storage';
import { keyedRecords } from '../records/keyed-records.ts';
import type { RetentionPolicy } from './domain/retention-policy.ts';

const sitePolicies = keyedRecords<RetentionPolicy>('shared/site-retention/');
const KEY = 'policy';

/** What holds for organizations without a policy of their own; null: everything is kept. */
export const findSitePolicy = async (reads: Reads): Promise<RetentionPolicy | null> =>
  (await sitePolicies.find(reads, KEY)) ?? null;

export const storeSitePolicy = (tx: Transaction, policy: RetentionPolicy | null): void => {
  if (policy === null) sitePolicies.delete(tx, KEY);
  else sitePolicies.write(tx, [KEY], policy);
};
