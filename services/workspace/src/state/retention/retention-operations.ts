import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import {
  decidePolicy,
  type RetentionPolicy,
  type RetentionRule,
} from '../../base/retention/domain/retention-policy.ts';
import {
  findSitePolicy,
  recordRunDataPolicy,
  storeSitePolicy,
} from '../../base/retention/retention-records.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { decideOrganizationPermissions } from '../../identity/access/domain/organization-permissions.ts';
import { requireOrganization } from '../../identity/access/organization-access-operations.ts';
import type { Organization } from '../../identity/model/domain/organization.ts';
import { organizationRecords } from '../../identity/model/organization-records.ts';
import { requireWorkspace } from '../../workspaces/access/access-operations.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';

export type RetentionTarget =
  | { readonly workspaceId: string }
  | { readonly organizationName: string }
  | { readonly site: true };

export interface TargetedPolicy {
  readonly policy: RetentionPolicy;
  /** The owner of the policy; null is the site. */
  readonly target: { readonly id: string; readonly type: 'workspaces' | 'organizations' } | null;
}

/** The owner of a policy, and where its policy is stored. */
interface Place {
  readonly own: RetentionPolicy | null;
  readonly target: TargetedPolicy['target'];
  /** Id of the workspace or organization; undefined for the site. */
  readonly id: string | undefined;
  store(tx: Transaction, policy: RetentionPolicy | null): void | Promise<void>;
  findInherited(): Promise<TargetedPolicy | undefined>;
}

const toTargeted = (
  policy: RetentionPolicy | null,
  target: TargetedPolicy['target'],
): TargetedPolicy | undefined => (policy === null ? undefined : { policy, target });

const sitePlace = async (reads: Reads, principal: Principal): Promise<Place> => {
  if (!principal.siteAdmin) throw notFound('resource');
  return {
    own: await findSitePolicy(reads),
    target: null,
    id: undefined,
    store: storeSitePolicy,
    findInherited: () => Promise.resolve(undefined),
  };
};

const findInheritedFromSite = async (reads: Reads): Promise<TargetedPolicy | undefined> =>
  toTargeted(await findSitePolicy(reads), null);

const findInheritedFrom = async (
  reads: Reads,
  { name, retentionPolicy }: Organization,
): Promise<TargetedPolicy | undefined> =>
  toTargeted(retentionPolicy, { id: name, type: 'organizations' }) ??
  (await findInheritedFromSite(reads));

/** The rule that applies to a workspace: its own, the organization's or the site's. */
export const loadRuleInForce = async (
  reads: Reads,
  { retentionPolicy, organizationId }: Workspace,
): Promise<RetentionRule | undefined> => {
  if (retentionPolicy !== null) return retentionPolicy.rule;
  const organization = await organizationRecords.find(reads, organizationId);
  return organization && (await findInheritedFrom(reads, organization))?.policy.rule;
};

const requirePlace = async (
  reads: Reads,
  principal: Principal,
  target: RetentionTarget,
  isChange: boolean,
): Promise<Place> => {
  if ('site' in target) return sitePlace(reads, principal);
  if ('workspaceId' in target) {
    const permission = isChange ? 'canUpdate' : 'canReadSettings';
    const { workspace, organization } = await requireWorkspace(
      reads,
      principal,
      target,
      permission,
    );
    return {
      own: workspace.retentionPolicy,
      target: { id: workspace.id, type: 'workspaces' },
      id: workspace.id,
      store: (tx, retentionPolicy) =>
        workspaceRecords.write(tx, [workspace.id], { ...workspace, retentionPolicy }),
      findInherited: () => findInheritedFrom(reads, organization),
    };
  }
  const { organization, caller } = await requireOrganization(
    reads,
    principal,
    target.organizationName,
  );
  if (isChange && !decideOrganizationPermissions(caller).canUpdate) {
    throw notFound('organization');
  }
  return {
    own: organization.retentionPolicy,
    target: { id: organization.name, type: 'organizations' },
    id: organization.id,
    store: (tx, retentionPolicy) =>
      organizationRecords.write(tx, [organization.id], { ...organization, retentionPolicy }),
    findInherited: () => findInheritedFromSite(reads),
  };
};

export const setRetentionPolicy = (
  { store }: ServiceContext,
  principal: Principal,
  target: RetentionTarget,
  rule: RetentionRule,
): Promise<TargetedPolicy> =>
  store.transact(async (tx) => {
    const place = await requirePlace(tx, principal, target, true);
    if ('site' in target && rule.kind === 'never-delete') {
      refuseInvalid([
        { pointer: '/data/type', text: 'a site without a policy deletes nothing anyway' },
      ]);
    }
    const policy = decidePolicy(place.own, rule, () => newResourceId('drp'));
    await place.store(tx, policy);
    recordRunDataPolicy(tx, place.id, place.own, policy);
    return { policy, target: place.target };
  });

/**
 * The effective policy: the owner's, else the inherited one.
 * @throws KeelsonError `workspace.not_found`
 */
export const loadRetentionPolicy = async (
  { store }: ServiceContext,
  principal: Principal,
  target: RetentionTarget,
): Promise<TargetedPolicy> => {
  const place = await requirePlace(store, principal, target, false);
  const found = toTargeted(place.own, place.target) ?? (await place.findInherited());
  if (found === undefined) throw notFound('data retention policy');
  return found;
};

/** Removes the target's own policy. @throws KeelsonError `workspace.not_found` when there is none */
export const removeRetentionPolicy = (
  { store }: ServiceContext,
  principal: Principal,
  target: RetentionTarget,
): Promise<void> =>
  store.transact(async (tx) => {
    const place = await requirePlace(tx, principal, target, true);
    if (place.own === null) throw notFound('data retention policy');
    await place.store(tx, null);
    recordRunDataPolicy(tx, place.id, place.own, null);
  });
