import { localRecords, type MountScope, sharedRecords } from '@keelson/engine';
import type { RecordCollection } from '@keelson/storage';
import { Type } from 'typebox';
import { type AppRole, appRoleShape } from './domain/app-role.ts';
import { type SecretId, secretIdShape } from './domain/secret-id.ts';

/** By name, in lower case. */
export const roleRecords = sharedRecords('approle/roles', { version: 1, shape: appRoleShape });

/** By role id: the name of the role. */
export const roleIdRecords = sharedRecords('approle/role-ids', {
  version: 1,
  shape: Type.Object({ name: Type.String() }),
});

const replicatedSecretIds = sharedRecords('approle/secret-ids', {
  version: 1,
  shape: secretIdShape,
});
const ownSecretIds = localRecords('approle/local-secret-ids', {
  version: 1,
  shape: secretIdShape,
});

/** The secret ids of a role, by accessor. */
export const secretIdsOf = (
  mount: MountScope,
  { uuid, localSecretIds }: AppRole,
): RecordCollection<SecretId> =>
  (localSecretIds ? ownSecretIds : replicatedSecretIds)(mount).below(uuid);

/** All secret ids of a mount, below the uuid of their role: those of this cluster, then those of all clusters. */
export const secretIdsAt = (mount: MountScope): readonly RecordCollection<SecretId>[] => [
  ownSecretIds(mount),
  replicatedSecretIds(mount),
];
