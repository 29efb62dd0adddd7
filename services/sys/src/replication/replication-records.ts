/**
 * The roles of this cluster. The DR role is of the node alone and holds keys, so it is sealed under a key
 * of its own; the performance role is local: a DR secondary has a copy and takes it up when promoted.
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
  /** PEM, as ca_file and ca_path held when it was given them. */
  readonly trustedRoots?: readonly string[];
  /** Where else the primary, or who takes its place, may be found; as the primary told. */
  readonly otherAddresses?: readonly string[];
}

export interface PrimaryRoleRecord {
  readonly role: 'primary';
  readonly clusterId: string;
  readonly generation: string;
  /** As given at enabling; "": the configured one. */
  readonly primaryClusterAddress: string;
  /** Promotion of the cluster that leads the set instead: this one writes nothing until it steps back. */
  readonly supersededBy?: number;
  /** Where the primary was whose place this cluster took without its stepping back, until it has heard of it. */
  readonly former?: LinkRecord;
}

export interface SecondaryRoleRecord {
  readonly role: 'secondary';
  readonly clusterId: string;
  readonly generation: string;
  /** From the token; other addresses may have been learned since. */
  readonly primaryClusterAddress: string;
  /** Absent: it has no primary, as after a demotion. */
  readonly link?: LinkRecord;
  /** Each service empties its store once for it; "": never. */
  readonly activation: string;
  /** Base64; what services need to empty a store of before the activation. */
  readonly previousRootKey: string;
  /** It was demoted and has followed nobody since: what it has is all there was. */
  readonly wasPrimary?: true;
}

/** A primary that was replaced stops in all its roles: its successor took up all of them. */
export const isSuperseded = ({ performance, dr }: Roles): boolean =>
  [performance, dr].some((role) => role?.role === 'primary' && role.supersededBy !== undefined);

export type RoleRecord = PrimaryRoleRecord | SecondaryRoleRecord;

/** An activation under way: taken up again at the next start. */
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

/** Records of the node, JSON under a key derived from the root key. */
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
/** Keys made by generate-public-key, until they are used. */
export const pendingKeys = {
  performance: sealedRecords<LinkKeyPair>('performance-keys'),
  dr: sealedRecords<LinkKeyPair>('dr-keys'),
};
/** The attempt to make a DR operation token: a DR secondary writes nothing but records of its node. */
export const operationTokenAttempt = sealedRecords<Ceremony<TokenPurpose>>('dr-token-attempt');
/** SHA-256 of the DR operation token, hex. */
export const operationToken = sealedRecords<{ readonly hash: string }>('dr-operation-token');

/** Tokens made for secondaries, by the id of the secondary: the revocation of one ends the other. */
export const activationTokens = {
  performance: jsonRecords<IssuedToken>('local/replication/performance/activation-tokens/'),
  dr: jsonRecords<IssuedToken>('local/replication/dr/activation-tokens/'),
};

/** What changes when a role does. */
export const ROLE_PATHS = [performanceRoles.path(ROLE), drRole.path] as const;

export interface Roles {
  readonly performance: RoleRecord | undefined;
  readonly dr: RoleRecord | undefined;
}

/** As recorded; a DR secondary's performance role is the one of its primary. */
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
