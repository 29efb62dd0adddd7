import type { MountScope } from '@keelson/engine';
import type { Reads } from '@keelson/storage';
import { toRoleName } from '../logins/role-name-operations.ts';
import type { KubernetesRole } from './domain/kubernetes-role.ts';
import { roleRecords } from './kubernetes-records.ts';

export const findRole = (
  reads: Reads,
  mount: MountScope,
  name: string,
): Promise<KubernetesRole | undefined> => roleRecords(mount).find(reads, toRoleName(name));
