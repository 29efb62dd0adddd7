/** The organizations of a site, which its administrators switch off or drain. */
import { refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import type { Organization } from '../model/domain/organization.ts';
import { findOrganizationByName, organizationRecords } from '../model/organization-records.ts';
import {
  findOrganizationSwitch,
  listSwitchedOrganizations,
  type OrganizationSwitch,
  organizationSwitches,
} from '../model/organization-switch-records.ts';
import { requireSiteAdmin } from './user-administration-operations.ts';

export interface ManagedOrganization {
  readonly organization: Organization;
  /** Undefined while it is on. */
  readonly state: OrganizationSwitch | undefined;
}

/** All organizations whose name or address includes the text, by name. */
export const listAllOrganizations = async (
  { store }: ServiceContext,
  principal: Principal,
  search: string,
): Promise<readonly ManagedOrganization[]> => {
  await requireSiteAdmin(store, principal);
  const ids = await organizationRecords.keys(store);
  const found = await Promise.all(
    ids.map((id) => organizationRecords.find(readableOnly(store), id)),
  );
  const switches = await listSwitchedOrganizations(store);
  const text = search.toLowerCase();
  return found
    .filter((organization) => organization !== undefined)
    .filter(({ name, settings }) =>
      [name, settings.email].some((part) => part.toLowerCase().includes(text)),
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((organization) => ({ organization, state: switches.get(organization.id) }));
};

const requireAny = async (reads: Reads, name: string): Promise<Organization> => {
  const organization = await findOrganizationByName(reads, name);
  if (organization === undefined) throw notFound('organization');
  return organization;
};

/** @throws KeelsonError `workspace.not_found` */
export const showAnyOrganization = async (
  { store }: ServiceContext,
  principal: Principal,
  name: string,
): Promise<ManagedOrganization> => {
  await requireSiteAdmin(store, principal);
  const organization = await requireAny(store, name);
  return { organization, state: await findOrganizationSwitch(store, organization.id) };
};

export interface SwitchChange {
  readonly isDisabled?: boolean | undefined;
  readonly isDraining?: boolean | undefined;
}

/**
 * Switches an organization off or on, or drains it. Absent values stay as they are.
 * @throws KeelsonError `jsonapi.invalid_attribute` for both at once, `workspace.not_found`
 */
export const switchOrganization = (
  { store, clock }: ServiceContext,
  principal: Principal,
  name: string,
  change: SwitchChange,
): Promise<ManagedOrganization> =>
  store.transact(async (tx) => {
    await requireSiteAdmin(tx, principal);
    const organization = await requireAny(tx, name);
    const { id } = organization;
    const before = await findOrganizationSwitch(tx, id);
    const isOff = change.isDisabled ?? before === 'off';
    const isDraining = change.isDraining ?? (before === 'draining' && !isOff);
    if (isOff && isDraining) {
      refuseInvalid([
        attributeViolation(
          'is-draining',
          'Draining an organization that is disabled has no effect',
        ),
      ]);
    }
    const state = isOff ? 'off' : isDraining ? 'draining' : undefined;
    if (state === undefined) organizationSwitches.delete(tx, id);
    else if (state !== before) {
      const sinceMs = clock.nowMs();
      organizationSwitches.write(tx, [id], { state, sinceMs, userId: principal.id });
    }
    return { organization, state };
  });
