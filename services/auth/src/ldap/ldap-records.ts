import { sharedRecords, sharedSetting } from '@keelson/engine';
import { ldapConfigShape } from './domain/ldap-config.ts';
import { groupMappingShape, userMappingShape } from './domain/mapping.ts';

export const configSetting = sharedSetting('ldap', { version: 1, shape: ldapConfigShape });

/** By name as the mount compares it. */
export const userMappingRecords = sharedRecords('ldap/users', {
  version: 1,
  shape: userMappingShape,
});
export const groupMappingRecords = sharedRecords('ldap/groups', {
  version: 1,
  shape: groupMappingShape,
});
