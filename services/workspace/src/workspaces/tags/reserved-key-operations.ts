import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { decideOrganizationPermissions } from '../../identity/access/domain/organization-permissions.ts';
import {
  type OrganizationAccessResult,
  requireOrganization,
  requireOrganizationOf,
} from '../../identity/access/organization-access-operations.ts';
import { findProjectsBinding } from '../listing/project-listing.ts';
import { projectRecords } from '../model/project-records.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { findOverridden } from './binding-override-operations.ts';
import { findKeyFault, type ReservedKey } from './domain/reserved-key.ts';
import { loadReservedKeys, reservedKeys } from './reserved-key-records.ts';

export type ReservedKeyInput = Partial<Pick<ReservedKey, 'key' | 'disableOverrides'>>;

const mayReserve = ({ caller }: Pick<OrganizationAccessResult, 'caller'>): boolean =>
  decideOrganizationPermissions(caller).canUpdate;

const requireReservedKey = async (
  reads: Reads,
  principal: Principal,
  id: string,
): Promise<ReservedKey> => {
  const reserved = await reservedKeys.find(reads, id);
  if (reserved === undefined) throw notFound('reserved tag key');
  const { organizationId } = reserved;
  const owner = await requireOrganizationOf(reads, principal, organizationId, 'reserved tag key');
  if (!mayReserve(owner)) throw notFound('reserved tag key');
  return reserved;
};

/**
 * Name of a project that binds the key and contains a workspace that binds it too; undefined if there is none.
 */
const findOverriding = async (
  context: WorkspacesContext,
  tx: Transaction,
  { organizationId, key }: ReservedKey,
): Promise<string | undefined> => {
  // Lists the projects because a transaction watches their records, unlike the projection.
  await projectRecords.keys(tx, [], { limit: 1 });
  for (const id of await findProjectsBinding(context.store, organizationId, { key })) {
    const project = await projectRecords.find(tx, id);
    if (project === undefined) continue;
    if ((await findOverridden(context, tx, project, [key])).length > 0) return project.name;
  }
  return undefined;
};

const requireFit = async (
  context: WorkspacesContext,
  tx: Transaction,
  reserved: ReservedKey,
): Promise<void> => {
  const fault = findKeyFault(reserved, await loadReservedKeys(tx, reserved.organizationId));
  if (fault !== undefined) refuseInvalid([attributeViolation('key', fault)]);
  if (!reserved.disableOverrides) return;
  const project = await findOverriding(context, tx, reserved);
  if (project === undefined) return;
  const text = `workspaces of the project ${project} override it; change them first`;
  refuseInvalid([attributeViolation('disable-overrides', text)]);
};

export const reserveKey = (
  context: WorkspacesContext,
  principal: Principal,
  organizationName: string,
  given: ReservedKeyInput & Pick<ReservedKey, 'key'>,
): Promise<ReservedKey> =>
  context.store.transact(async (tx) => {
    const owner = await requireOrganization(tx, principal, organizationName);
    if (!mayReserve(owner)) throw notFound('organization');
    const nowMs = context.clock.nowMs();
    const reserved: ReservedKey = {
      disableOverrides: false,
      ...given,
      id: newResourceId('rtk'),
      organizationId: owner.organization.id,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await requireFit(context, tx, reserved);
    await reservedKeys.write(tx, [reserved.id], reserved);
    return reserved;
  });

export const updateReservedKey = (
  context: WorkspacesContext,
  principal: Principal,
  id: string,
  given: ReservedKeyInput,
): Promise<ReservedKey> =>
  context.store.transact(async (tx) => {
    const current = await requireReservedKey(tx, principal, id);
    const next = { ...current, ...given, updatedAtMs: context.clock.nowMs() };
    await requireFit(context, tx, next);
    await reservedKeys.write(tx, [id], next);
    return next;
  });

/** Removes the reservation; existing bindings stay. */
export const releaseKey = (
  { store }: WorkspacesContext,
  principal: Principal,
  id: string,
): Promise<void> =>
  store.transact(async (tx) => {
    await requireReservedKey(tx, principal, id);
    await reservedKeys.delete(tx, id);
  });

export const listReservedKeys = async (
  { store }: WorkspacesContext,
  principal: Principal,
  organizationName: string,
): Promise<readonly ReservedKey[]> => {
  const { organization } = await requireOrganization(store, principal, organizationName);
  return loadReservedKeys(readableOnly(store), organization.id);
};
