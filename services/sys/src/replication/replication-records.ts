/**
 * The replication roles of this cluster. The DR role belongs to the node and holds keys, so it is encrypted
 * with a separate key. The performance role is local: a DR secondary copies it and adopts it on promotion.
 */

import {
  linkKeyPairShape,
  openMessage,
  type ReplicationKind,
  sealMessage,
} from '@keelson/replication';
import {
  collection,
  type Reads,
  type SealedRecord,
  sealedRecord,
  singleRecord,
  type Transaction,
} from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { type TSchema, Type } from 'typebox';
import { ceremonyFor } from '../seal/domain/ceremony.ts';
import type { RootKeyUse } from '../seal/root-key-replacement.ts';
import { deriveServiceKey } from '../seal/root-key-wrap.ts';
import { tokenPurposeShape } from '../seal/seal-records.ts';
import { activationBundleShape } from './domain/activation-bundle.ts';

export const linkRecordShape = Type.Object({
  secondaryId: Type.String(),
  keys: linkKeyPairShape,
  primaryPublicKey: Type.String(),
  addresses: Type.Array(Type.String()),
  /** PEM; contents of ca_file or ca_path at the time they were given. */
  trustedRoots: Type.Optional(Type.Array(Type.String())),
  /** Other addresses of the primary or its successor, as reported by the primary. */
  otherAddresses: Type.Optional(Type.Array(Type.String())),
});
export type LinkRecord = Shaped<typeof linkRecordShape>;

export const primaryRoleRecordShape = Type.Object({
  role: Type.Literal('primary'),
  clusterId: Type.String(),
  generation: Type.String(),
  /** As given when replication was enabled; "" means the configured address. */
  primaryClusterAddress: Type.String(),
  /** Promotion of the cluster that leads the set now; this cluster writes nothing until it steps back. */
  supersededBy: Type.Optional(Type.Number()),
  /** The link to a primary that was replaced without stepping back, until it has learned of that. */
  former: Type.Optional(linkRecordShape),
});
export type PrimaryRoleRecord = Shaped<typeof primaryRoleRecordShape>;

export const secondaryRoleRecordShape = Type.Object({
  role: Type.Literal('secondary'),
  clusterId: Type.String(),
  generation: Type.String(),
  /** Taken from the token; further addresses may have been learned since. */
  primaryClusterAddress: Type.String(),
  /** Absent when there is no primary, as after a demotion. */
  link: Type.Optional(linkRecordShape),
  /** Id for which each service empties its store once; "" means never. */
  activation: Type.String(),
  /** Base64; lets services empty stores that still hold data from before the activation. */
  previousRootKey: Type.String(),
  /** This cluster was demoted and has followed no other since, so it has all the data there is. */
  wasPrimary: Type.Optional(Type.Literal(true)),
});
export type SecondaryRoleRecord = Shaped<typeof secondaryRoleRecordShape>;

/** A replaced primary stops in all its roles, because its successor adopted all of them. */
export const isSuperseded = ({ performance, dr }: Roles): boolean =>
  [performance, dr].some((role) => role?.role === 'primary' && role.supersededBy !== undefined);

/** The roles in effect: a DR secondary has no other role. */
export const effectiveRoles = (roles: Roles): Roles =>
  roles.dr?.role === 'secondary' ? { performance: undefined, dr: roles.dr } : roles;

export const roleRecordShape = Type.Union([primaryRoleRecordShape, secondaryRoleRecordShape]);
export type RoleRecord = Shaped<typeof roleRecordShape>;

const pendingActivationShape = Type.Object({
  bundle: activationBundleShape,
  keys: linkKeyPairShape,
  trustedRoots: Type.Optional(Type.Array(Type.String())),
  activation: Type.String(),
});
export type PendingActivation = Shaped<typeof pendingActivationShape>;

const issuedTokenShape = Type.Object({ accessor: Type.String() });

const performanceRoles = singleRecord('replication/performance/role', {
  scope: 'local',
  version: 1,
  shape: roleRecordShape,
});

const keyOf = (rootKey: Uint8Array): Uint8Array => deriveServiceKey(rootKey, 'replication');

/** A record of the node, encrypted under a key derived from the root key, which its readers give. */
const sealedByRootKey = <Shape extends TSchema>(name: string, shape: Shape) =>
  sealedRecord(`replication/sealed/${name}`, {
    scope: 'node',
    version: 1,
    shape,
    cipher: {
      seal: (rootKey, path, value) => sealMessage(keyOf(rootKey), path, value),
      open: (rootKey, path, sealed) => openMessage(keyOf(rootKey), path, sealed),
    },
  });

const drRole = sealedByRootKey('dr-role', roleRecordShape);
/** An activation in progress, resumed at the next start. */
export const pendingActivation = sealedByRootKey('pending-activation', pendingActivationShape);
/** Keys made by generate-public-key that have not been used yet. */
export const pendingKeys = {
  performance: sealedByRootKey('performance-keys', linkKeyPairShape),
  dr: sealedByRootKey('dr-keys', linkKeyPairShape),
};
/** The attempt to make a DR operation token. A DR secondary can write records of its node only. */
export const operationTokenAttempt = sealedByRootKey(
  'dr-token-attempt',
  ceremonyFor(tokenPurposeShape),
);
/** SHA-256 of the DR operation token, hex. */
export const operationToken = sealedByRootKey(
  'dr-operation-token',
  Type.Object({ hash: Type.String() }),
);

/** The root key belongs to all clusters of a replication set, and encrypts records of the node. */
export const rootKeyUse: RootKeyUse = {
  isShared: async (reads, rootKey) => {
    const { performance, dr } = await findRoles(reads, rootKey);
    return performance !== undefined || dr !== undefined;
  },
  move: async (tx, former, rootKey) => {
    const move = async <T>(record: SealedRecord<T>): Promise<void> => {
      const value = await record.find(tx, former);
      if (value !== undefined) record.write(tx, rootKey, value);
    };
    await move(drRole);
    await move(pendingActivation);
    await move(pendingKeys.performance);
    await move(pendingKeys.dr);
    await move(operationTokenAttempt);
    await move(operationToken);
  },
};

/** Tokens made for secondaries, by secondary id. Revoking a secondary also revokes its token. */
export const activationTokens = {
  performance: collection('replication/performance/activation-tokens', {
    scope: 'local',
    version: 1,
    keys: 'paths',
    shape: issuedTokenShape,
  }),
  dr: collection('replication/dr/activation-tokens', {
    scope: 'local',
    version: 1,
    keys: 'paths',
    shape: issuedTokenShape,
  }),
};

/** Records that change together with a role. */
export const ROLE_PATHS = [performanceRoles.path, drRole.path] as const;

export interface Roles {
  readonly performance: RoleRecord | undefined;
  readonly dr: RoleRecord | undefined;
}

/** The recorded roles. On a DR secondary, the performance role is that of its primary. */
export const findRoles = async (reads: Reads, rootKey: Uint8Array): Promise<Roles> => ({
  performance: await performanceRoles.find(reads),
  dr: await drRole.find(reads, rootKey),
});

export const writeRole = (
  tx: Transaction,
  rootKey: Uint8Array,
  kind: ReplicationKind,
  role: RoleRecord | undefined,
): void => {
  if (kind === 'performance') {
    if (role === undefined) performanceRoles.delete(tx);
    else performanceRoles.write(tx, role);
  } else if (role === undefined) drRole.delete(tx);
  else drRole.write(tx, rootKey, role);
};
