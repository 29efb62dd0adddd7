import { collection, type Reads } from '@keelson/storage';
import { type Organization, organizationShape } from './domain/organization.ts';

/** Keyed by `org-…`. */
export const organizationRecords = collection('organizations', {
  scope: 'shared',
  version: 1,
  shape: organizationShape,
  index: [{ name: 'name', unique: true, rows: 'organization-names', values: ({ name }) => [name] }],
});

export const findOrganizationByName = (
  reads: Reads,
  name: string,
): Promise<Organization | undefined> => organizationRecords.by.name.find(reads, name);
