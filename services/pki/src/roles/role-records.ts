import { sharedRecords } from '@keelson/engine';
import { roleShape } from './domain/role.ts';

/** Roles by name. */
export const roleRecords = sharedRecords('roles', { version: 1, shape: roleShape });
