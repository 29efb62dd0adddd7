/**
 * The replication roles of this cluster. The DR role belongs to the node and holds keys, so it is encrypted
 * with a separate key. The performance role is local: a DR secondary copies it and adopts it on promotion.
 */
import type { LinkKeyPair, ReplicationKind } from '@keelson/replication';
import { openMessage, sealMessage } from '@keelson/replication';
import { jsonRecords, type Reads, type Transaction } from '@keelson/storage';
import type { Ceremony } from '../seal/domain/ceremony.ts';
import { deriveServiceKey } from '../seal/root-key-wrap.ts';
import type { TokenPurpose } from '../seal/seal-records.ts';
import type { ActivationBundle } from './domain/activation-bundle.ts';

export interface LinkRecord {
  readonly secondaryId: string;
  readonly keys: LinkKeyPair;
  readonly primaryPublicKey: string;
  readonly addresses: readonly string[];
  /** PEM; contents of ca_file or ca_path at the time they were given. */
  readonly trustedRoots?: readonly string[];
  /** Other addresses of the primary or its successor, as reported by the primary. */
  readonly otherAddresses?: readonly string[];
}

export interface PrimaryRoleRecord {
  readonly role: 'primary';
  readonly clusterId: string;
  readonly generation: string;
  /** As given when replication was enabled; "": the configured address. */
  readonly primaryClusterAddress: string;
  /** Promotion of the cluster that leads the set now; this cluster writes nothing until it steps back. */
  readonly supersededBy?: number;
  /** The link to a primary that was replaced without stepping back, until it has learned of that. */
  readonly former?: LinkRecord;
}

export interface SecondaryRoleRecord {
  readonly role: 'secondary';
  readonly clusterId: string;
  readonly generation: string;
  /** Taken from the token; further addresses may have been learned since. */
  readonly primaryClusterAddress: string;
  /** Absent when there is no primary, as after a demotion. */
  readonly link?: LinkRecord;
  /** Id for which each service empties its store once; "": never. */
  readonly activation: string;
  /** Base64; lets services empty stores that still hold data from before the activation. */
  readonly previousRootKey: string;
  /** This cluster was demoted and has followed no other since, so it has all the data there is. */
  readonly wasPrimary?: true;
}

/** A replaced primary stops in all its roles, because its successor adopted all of them. */
export const isSuperseded = ({ performance, dr }: Roles): boolean =>
  [performance, dr].some((role) => role?.role === 'primary' && role.supersededBy !== undefined);

export type RoleRecord = PrimaryRoleRecord | SecondaryRoleRecord;

/** An activation in progress, resumed at the next start. */
export interface PendingActivation {
  readonly bundle: ActivationBundle;
  readonly keys: LinkKeyPair;
  readonly trustedRoots?: readonly string[] | undefined;
  readonly activation: string;
}

interface IssuedToken {
  readonly accessor: string;
}

const ROLE = 'role';
const performanceRoles = jsonRecords<RoleRecord>('local/replication/performance/');
const SEALED_PREFIX = 'node/replication/sealed/';

/** Records of the node, stored as JSON encrypted under a key derived from the root key. */
const sealedRecords = <T>(name: string) => {
  const path = `${SEALED_PREFIX}${name}`;
  const keyOf = (rootKey: Uint8Array): Uint8Array => deriveServiceKey(rootKey, 'replication');
  return {
    path,
    find: async (reads: Reads, rootKey: Uint8Array): Promise<T | undefined> => {
      const record = await reads.read(path);
      return record === undefined
        ? undefined
        : (JSON.parse(openMessage(keyOf(rootKey), path, record.value).toString()) as T);
    },
    write: (tx: Transaction, rootKey: Uint8Array, value: T): void =>
      tx.write(path, sealMessage(keyOf(rootKey), path, Buffer.from(JSON.stringify(value)))),
    delete: (tx: Transaction): void => tx.delete(path),
  };
};

const drRole = sealedRecords<RoleRecord>('dr-role');
export const pendingActivation = sealedRecords<PendingActivation>('pending-activation');
/** Keys made by generate-public-key that have not been used yet. */
export const pendingKeys = {
  performance: sealedRecords<LinkKeyPair>('performance-keys'),
  dr: sealedRecords<LinkKeyPair>('dr-keys'),
};
/** The attempt to make a DR operation token. A DR secondary can write records of its node only. */
export const operationTokenAttempt = sealedRecords<Ceremony<TokenPurpose>>('dr-token-attempt');
/** SHA-256 of the DR operation token, hex. */
export const operationToken = sealedRecords<{ readonly hash: string }>('dr-operation-token');

/** Tokens made for secondaries, by secondary id. Revoking a secondary also revokes its token. */
export const activationTokens = {
  performance: jsonRecords<IssuedToken>('local/replication/performance/activation-tokens/'),
  dr: jsonRecords<IssuedToken>('local/replication/dr/activation-tokens/'),
};

/** Records that change together with a role. */
export const ROLE_PATHS = [performanceRoles.path(ROLE), drRole.path] as const;

export interface Roles {
  readonly performance: RoleRecord | undefined;
  readonly dr: RoleRecord | undefined;
}

/** The recorded roles. On a DR secondary, the performance role is that of its primary. */
export const findRoles = async (reads: Reads, rootKey: Uint8Array): Promise<Roles> => ({
  performance: await performanceRoles.find(reads, ROLE),
  dr: await drRole.find(reads, rootKey),
});

export const writeRole = (
  tx: Transaction,
  rootKey: Uint8Array,
  kind: ReplicationKind,
  role: RoleRecord | undefined,
): void => {
  if (kind === 'performance') {
    if (role === undefined) performanceRoles.delete(tx, ROLE);
    else performanceRoles.write(tx, ROLE, role);
  } else if (role === undefined) drRole.delete(tx);
  else drRole.write(tx, rootKey, role);
};
