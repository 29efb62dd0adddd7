import { collection, type Reads } from '@keelson/storage';
import { Type } from 'typebox';
import { type Organization, organizationShape } from './domain/organization.ts';

/** Keyed by `org-…`. */
export const organizationRecords = collection('organizations', {
  scope: 'shared',
  version: 1,
  shape: organizationShape,
});

/** Name -> id. */
export const organizationNames = collection('organization-names', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ id: Type.String() }),
});

export const findOrganizationByName = async (
  reads: Reads,
  name: string,
): Promise<Organization | undefined> => {
  const found = await organizationNames.find(reads, name);
  return found && organizationRecords.find(reads, found.id);
};
