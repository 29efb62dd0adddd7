import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Reads } from '@keelson/storage';
import { toRoleName } from '../logins/role-name-operations.ts';
import type { JwtRole } from './domain/jwt-role.ts';
import { roleRecords } from './jwt-records.ts';

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

export const findRole = (
  reads: Reads,
  mount: MountScope,
  name: string,
): Promise<JwtRole | undefined> => roleRecords(mount).find(reads, toRoleName(name));

/** @throws KeelsonError `request.invalid` */
export const requireRole = async (
  reads: Reads,
  mount: MountScope,
  name: string,
): Promise<JwtRole> => {
  if (name === '') return refuse('missing role');
  return (await findRole(reads, mount, name)) ?? refuse(`role "${name}" could not be found`);
};
