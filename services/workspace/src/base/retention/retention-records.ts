import { collection, type Reads, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import { limitsOf, type RetentionPolicy, retentionPolicyShape } from './domain/retention-policy.ts';

const sitePolicies = collection('site-retention', {
  scope: 'shared',
  version: 1,
  shape: retentionPolicyShape,
});
const KEY = 'policy';
const SITE = 'site';

/** Workspaces, organizations and "site" whose policy covers run data. Usually empty. */
export const runDataPolicies = collection('run-data-policies', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({}),
});

/** @param placeId workspace or organization; undefined for the site */
export const recordRunDataPolicy = (
  tx: Transaction,
  placeId: string | undefined,
  before: RetentionPolicy | null,
  after: RetentionPolicy | null,
): void => {
  const place = placeId ?? SITE;
  if (limitsOf(after?.rule, 'runData') !== undefined) runDataPolicies.write(tx, [place], {});
  else if (limitsOf(before?.rule, 'runData') !== undefined) runDataPolicies.delete(tx, place);
};

/** The policy that organizations without one inherit; null if everything is kept. */
export const findSitePolicy = async (reads: Reads): Promise<RetentionPolicy | null> =>
  (await sitePolicies.find(reads, KEY)) ?? null;

/**
 * The site's policy if it applies to one of the workspaces; null otherwise. Read at most once,
 * because looking up an absent record goes to the database every time.
 */
export const findSitePolicyFor = async (
  reads: Reads,
  workspaces: readonly {
    readonly workspace: { readonly retentionPolicy: RetentionPolicy | null };
    readonly organization: { readonly retentionPolicy: RetentionPolicy | null };
  }[],
): Promise<RetentionPolicy | null> => {
  const isForAny = workspaces.some(
    ({ workspace, organization }) =>
      workspace.retentionPolicy === null && organization.retentionPolicy === null,
  );
  return isForAny ? findSitePolicy(reads) : null;
};

export const storeSitePolicy = (tx: Transaction, policy: RetentionPolicy | null): void => {
  if (policy === null) sitePolicies.delete(tx, KEY);
  else sitePolicies.write(tx, [KEY], policy);
};
