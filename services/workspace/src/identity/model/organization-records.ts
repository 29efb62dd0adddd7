import type { Reads } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';
import type { Organization } from './domain/organization.ts';

/** Keyed by `org-…`. */
export const organizationRecords = keyedRecords<Organization>('shared/organizations/');

/** Name -> id. */
export const organizationNames = keyedRecords<{ readonly id: string }>(
  'shared/organization-names/',
);

export const findOrganizationByName = async (
  reads: Reads,
  name: string,
): Promise<Organization | undefined> => {
  const found = await organizationNames.find(reads, name);
  return found && organizationRecords.find(reads, found.id);
};
