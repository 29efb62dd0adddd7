import type { Reads, Transaction } from '@keelson/storage';
import { keyedRecords } from '../records/keyed-records.ts';
import { limitsOf, type RetentionPolicy } from './domain/retention-policy.ts';

const sitePolicies = keyedRecords<RetentionPolicy>('shared/site-retention/');
const KEY = 'policy';
const SITE = 'site';

/** Workspaces, organizations and "site" whose policy is about the data of runs: mostly there are none. */
export const runDataPolicies = keyedRecords<Record<never, never>>('shared/run-data-policies/');

/** @param placeId of the workspace or organization, undefined for the site */
export const noteRunDataPolicy = (
  tx: Transaction,
  placeId: string | undefined,
  before: RetentionPolicy | null,
  after: RetentionPolicy | null,
): void => {
  const place = placeId ?? SITE;
  if (limitsOf(after?.rule, 'runData') !== undefined) runDataPolicies.write(tx, [place], {});
  else if (limitsOf(before?.rule, 'runData') !== undefined) runDataPolicies.delete(tx, place);
};

/** What holds for organizations without a policy of their own; null: everything is kept. */
export const findSitePolicy = async (reads: Reads): Promise<RetentionPolicy | null> =>
  (await sitePolicies.find(reads, KEY)) ?? null;

export const storeSitePolicy = (tx: Transaction, policy: RetentionPolicy | null): void => {
  if (policy === null) sitePolicies.delete(tx, KEY);
  else sitePolicies.write(tx, [KEY], policy);
};
