import { sharedRecords, sharedSetting } from '@keelson/engine';
import { jwtConfigShape } from './domain/jwt-config.ts';
import { jwtRoleShape } from './domain/jwt-role.ts';

export const configSetting = sharedSetting('jwt', { version: 1, shape: jwtConfigShape });

/** By name, in lower case. */
export const roleRecords = sharedRecords('jwt/roles', { version: 1, shape: jwtRoleShape });
