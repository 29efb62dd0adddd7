import { jsonRecords, type RecordCollection } from '@keelson/storage';
import { type MountScope, sharedPrefix } from '../mounts/mount-records.ts';
import type { Role } from './domain/role.ts';

/** Roles by name. */
export const roleRecords = (mount: MountScope): RecordCollection<Role> =>
  jsonRecords(`${sharedPrefix(mount)}roles/`);
