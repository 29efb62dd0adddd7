import { sharedRecords, sharedSetting } from '@keelson/engine';
import { certConfigShape, certRoleShape, revocationListShape } from './domain/cert-role.ts';

export const configSetting = sharedSetting('cert', { version: 1, shape: certConfigShape });

/** By name, in lower case. */
export const roleRecords = sharedRecords('cert/roles', { version: 1, shape: certRoleShape });
export const revocationListRecords = sharedRecords('cert/crls', {
  version: 1,
  shape: revocationListShape,
});
