import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import {
  findStanding,
  notFound,
  type OrganizationAccessResult,
  requireOrganization,
} from '../access/access-operations.ts';
import { decideOrganizationPermissions } from '../organizations/domain/organization-permissions.ts';
import { organizationRecords } from '../organizations/organization-records.ts';
import { projectNames, projectRecords } from '../projects/project-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { attributeViolation } from '../validation/domain/violation.ts';
import { findOverridden } from './binding-override-operations.ts';
import { findKeyFault, type ReservedKey } from './domain/reserved-key.ts';
import { loadReservedKeys, reservedKeyPlaces, reservedKeys } from './reserved-key-records.ts';

export type GivenReservedKey = Partial<Pick<ReservedKey, 'key' | 'disableOverrides'>>;

const mayReserve = ({ standing }: Pick<OrganizationAccessResult, 'standing'>): boolean =>
  decideOrganizationPermissions(standing).canUpdate;

const requireReservedKey = async (
  reads: Reads,
  principal: Principal,
  id: string,
): Promise<ReservedKey> => {
  const place = await reservedKeyPlaces.find(reads, id);
  const reserved = place && (await reservedKeys.find(reads, place.organizationId, id));
  const organization = place && (await organizationRecords.find(reads, place.organizationId));
  const standing = organization && (await findStanding(reads, principal, organization));
  if (reserved === undefined || standing === undefined || !mayReserve({ standing })) {
    throw notFound('reserved tag key');
  }
  return reserved;
};

/** Projects of the organization that bind a key which workspaces of theirs bind too. */
const findOverriding = async (
  context: ServiceContext,
  tx: Transaction,
  { organizationId, key }: ReservedKey,
): Promise<readonly string[]> => {
  const overriding: string[] = [];
  for (const name of await projectNames.keys(tx, [organizationId])) {
    const found = await projectNames.find(tx, organizationId, name);
    const project = found && (await projectRecords.find(tx, found.id));
    if (project?.tagBindings.some((binding) => binding.key === key) !== true) continue;
    if ((await findOverridden(context, tx, project, [key])).length > 0)
      overriding.push(project.name);
  }
  return overriding;
};

const requireFit = async (
  context: ServiceContext,
  tx: Transaction,
  reserved: ReservedKey,
): Promise<void> => {
  const fault = findKeyFault(reserved, await loadReservedKeys(tx, reserved.organizationId));
  if (fault !== undefined) refuseInvalid([attributeViolation('key', fault)]);
  if (!reserved.disableOverrides) return;
  const [project] = await findOverriding(context, tx, reserved);
  if (project === undefined) return;
  const text = `workspaces of the project ${project} override it; change them first`;
  refuseInvalid([attributeViolation('disable-overrides', text)]);
};

export const reserveKey = (
  context: ServiceContext,
  principal: Principal,
  organizationName: string,
  given: GivenReservedKey & Pick<ReservedKey, 'key'>,
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
    reservedKeys.write(tx, [reserved.organizationId, reserved.id], reserved);
    reservedKeyPlaces.write(tx, [reserved.id], { organizationId: reserved.organizationId });
    return reserved;
  });

export const updateReservedKey = (
  context: ServiceContext,
  principal: Principal,
  id: string,
  given: GivenReservedKey,
): Promise<ReservedKey> =>
  context.store.transact(async (tx) => {
    const current = await requireReservedKey(tx, principal, id);
    const next = { ...current, ...given, updatedAtMs: context.clock.nowMs() };
    await requireFit(context, tx, next);
    reservedKeys.write(tx, [next.organizationId, id], next);
    return next;
  });

/** The key is one like others again; bindings of it stay. */
export const releaseKey = (
  { store }: ServiceContext,
  principal: Principal,
  id: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const { organizationId } = await requireReservedKey(tx, principal, id);
    reservedKeys.delete(tx, organizationId, id);
    reservedKeyPlaces.delete(tx, id);
  });

export const listReservedKeys = async (
  { store }: ServiceContext,
  principal: Principal,
  organizationName: string,
): Promise<readonly ReservedKey[]> => {
  const { organization } = await requireOrganization(store, principal, organizationName);
  return loadReservedKeys(store, organization.id);
};
