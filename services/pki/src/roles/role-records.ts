import { sharedRecords } from '../mounts/mount-records.ts';
import { roleShape } from './domain/role.ts';

/** Roles by name. */
export const roleRecords = sharedRecords('roles', { version: 1, shape: roleShape });
