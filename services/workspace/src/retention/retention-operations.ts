import { newResourceId } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import { notFound, requireOrganization, requireWorkspace } from '../access/access-operations.ts';
import { decideOrganizationPermissions } from '../organizations/domain/organization-permissions.ts';
import { organizationRecords } from '../organizations/organization-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';
import {
  decidePolicy,
  type RetentionPolicy,
  type RetentionRule,
} from './domain/retention-policy.ts';

export type RetentionTarget =
  | { readonly workspaceId: string }
  | { readonly organizationName: string };

/** What a policy is for, and how it is kept there. */
interface Place {
  readonly own: RetentionPolicy | null;
  readonly inherited: RetentionPolicy | null;
  readonly target: { readonly id: string; readonly type: 'workspaces' | 'organizations' };
  store(tx: Transaction, policy: RetentionPolicy | null): void;
}

const requirePlace = async (
  reads: Reads,
  principal: Principal,
  target: RetentionTarget,
  isChange: boolean,
): Promise<Place> => {
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
      inherited: organization.retentionPolicy,
      target: { id: workspace.id, type: 'workspaces' },
      store: (tx, retentionPolicy) =>
        workspaceRecords.write(tx, [workspace.id], { ...workspace, retentionPolicy }),
    };
  }
  const { organization, standing } = await requireOrganization(
    reads,
    principal,
    target.organizationName,
  );
  if (isChange && !decideOrganizationPermissions(standing).canUpdate) {
    throw notFound('organization');
  }
  return {
    own: organization.retentionPolicy,
    inherited: null,
    target: { id: organization.name, type: 'organizations' },
    store: (tx, retentionPolicy) =>
      organizationRecords.write(tx, [organization.id], { ...organization, retentionPolicy }),
  };
};

export interface TargetedPolicy {
  readonly policy: RetentionPolicy;
  readonly target: Place['target'];
}

export const setRetentionPolicy = (
  { store }: ServiceContext,
  principal: Principal,
  target: RetentionTarget,
  rule: RetentionRule,
): Promise<TargetedPolicy> =>
  store.transact(async (tx) => {
    const place = await requirePlace(tx, principal, target, true);
    const policy = decidePolicy(place.own, rule, () => newResourceId('drp'));
    place.store(tx, policy);
    return { policy, target: place.target };
  });

/** The policy in force: its own, else the organization's. @throws KeelsonError `workspace.not_found` */
export const loadRetentionPolicy = async (
  { store }: ServiceContext,
  principal: Principal,
  target: RetentionTarget,
): Promise<TargetedPolicy> => {
  const place = await requirePlace(store, principal, target, false);
  const policy = place.own ?? place.inherited;
  if (policy === null) throw notFound('data retention policy');
  return { policy, target: place.target };
};

/** Removes the policy of its own. @throws KeelsonError `workspace.not_found` when there is none */
export const removeRetentionPolicy = (
  { store }: ServiceContext,
  principal: Principal,
  target: RetentionTarget,
): Promise<void> =>
  store.transact(async (tx) => {
    const place = await requirePlace(tx, principal, target, true);
    if (place.own === null) throw notFound('data retention policy');
    place.store(tx, null);
  });
