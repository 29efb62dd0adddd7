/** The switch of each organization, which only administrators of the site turn. */
import { collection, type Reads, readableOnly } from '@keelson/storage';
import { Type } from 'typebox';

/**
 * `off`: every request is refused, and runs under way are canceled; `draining`: no phase of a run starts, and those
 * under way end.
 */
export const ORGANIZATION_SWITCHES = ['off', 'draining'] as const;
export type OrganizationSwitch = (typeof ORGANIZATION_SWITCHES)[number];

/** `org-…` -> its switch; absent for an organization that is on. */
export const organizationSwitches = collection('organization-switches', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({
    state: Type.Union([Type.Literal('off'), Type.Literal('draining')]),
    /** Time since which the organization is in this state. */
    sinceMs: Type.Number(),
    /** The administrator who has chosen it. */
    userId: Type.String(),
  }),
  owner: { kind: 'organization', by: '*' },
});

/** Undefined for an organization that is on. */
export const findOrganizationSwitch = async (
  reads: Reads,
  organizationId: string,
): Promise<OrganizationSwitch | undefined> =>
  (await organizationSwitches.find(reads, organizationId))?.state;

export const isOrganizationOff = async (reads: Reads, organizationId: string): Promise<boolean> =>
  (await findOrganizationSwitch(reads, organizationId)) === 'off';

/** Organizations that are not on. A switch that cannot be read counts as off. */
export const listSwitchedOrganizations = async (
  reads: Reads,
): Promise<ReadonlyMap<string, OrganizationSwitch>> => {
  const ids = await organizationSwitches.keys(reads, []);
  return new Map(
    await Promise.all(
      ids.map(async (id) => {
        const found = await findOrganizationSwitch(readableOnly(reads), id);
        return [id, found ?? 'off'] as const;
      }),
    ),
  );
};
