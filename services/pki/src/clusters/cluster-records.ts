/**
 * Records by which the clusters of a mount inform each other. Each cluster writes under its own id in the
 * replicated scope, so that replication delivers them to the others.
 */

import { jsonRecords, type Reads, type RecordCollection, type Transaction } from '@keelson/storage';
import { REVOCATION_REASON, type RevocationReason } from '@keelson/x509';
import type { Revoker } from '../certificates/domain/revoker.ts';
import {
  pendingRecords,
  type Revocation,
  revocationRecords,
} from '../certificates/revocation-records.ts';
import { loadCrlConfig } from '../crl-config/crl-config-records.ts';
import { bulkPrefix, localPrefix, type MountScope, sharedPrefix } from '../mounts/mount-records.ts';
import { putForAll } from './outbox.ts';

/** Revocations of all clusters: `<serial>/<id of the cluster>`. */
export const clusterRevocationRecords = (mount: MountScope): RecordCollection<Revocation> =>
  jsonRecords(bulkPrefix('clusterRevocations', mount));

/** Prefix of the revocations of one certificate by all clusters. */
export const clusterRevocationsOf = (mount: MountScope, serialKey: string): string =>
  `${clusterRevocationRecords(mount).path(serialKey)}/`;

/** Marks that this cluster has announced its revocations from before the lists became unified. */
export interface Announced {
  readonly atMs: number;
  /** The `unification` of the configuration of the lists. */
  readonly unification?: string | undefined;
}

export const announcedRecords = (mount: MountScope): RecordCollection<Announced> =>
  jsonRecords(`${localPrefix(mount)}unified/`);
export const ANNOUNCED = 'announced';

/** This cluster among those of the mount. */
export interface ThisCluster {
  readonly id: string;
  /** Whether another cluster is the primary, which writes replicated records. */
  readonly isSecondary: boolean;
}

/** A certificate to be revoked by the cluster that issued it. */
export interface RevocationRequest {
  readonly requestingCluster: string;
  readonly requestedAtMs: number;
  readonly requestedBy: Revoker;
  /** Undefined if the request has no reason. */
  readonly reason?: RevocationReason | undefined;
}

/** By serial number. */
export const requestRecords = (mount: MountScope): RecordCollection<RevocationRequest> =>
  jsonRecords(`${sharedPrefix(mount)}revocation-requests/`);

export interface RevocationConfirmation {
  readonly confirmingCluster: string;
  readonly confirmedAtMs: number;
  /** The reason that the request gave. */
  readonly reason?: RevocationReason | undefined;
}

/** By serial number; a separate record, because another cluster writes it. */
export const confirmationRecords = (mount: MountScope): RecordCollection<RevocationConfirmation> =>
  jsonRecords(`${sharedPrefix(mount)}revocation-confirmations/`);

/** The oldest announced revocation of a certificate, with the compromise if any cluster found one. */
export const findClusterRevocation = async (
  reads: Reads,
  mount: MountScope,
  serialKey: string,
): Promise<(Revocation & { readonly clusters: readonly string[] }) | undefined> => {
  const records = jsonRecords<Revocation>(clusterRevocationsOf(mount, serialKey));
  const entries = await records.entries(reads);
  const revocations = entries.map(([, one]) => one).sort((a, b) => a.revokedAtMs - b.revokedAtMs);
  const [oldest] = revocations;
  if (oldest === undefined) return undefined;
  const { keyCompromise } = REVOCATION_REASON;
  const isCompromised = revocations.some(({ reason }) => reason === keyCompromise);
  const reason = isCompromised ? keyCompromise : oldest.reason;
  return { ...oldest, reason, clusters: entries.map(([cluster]) => cluster) };
};

/** Announces a revocation of this cluster to all clusters. */
export const announceRevocation = (
  tx: Transaction,
  mount: MountScope,
  { id }: ThisCluster,
  serialKey: string,
  revocation: Revocation,
): void => {
  const { revokedAtMs, issuerId, reason } = revocation;
  putForAll(tx, mount, clusterRevocationRecords(mount), `${serialKey}/${id}`, revocation);
  putForAll(tx, mount, pendingRecords(mount, 'all'), serialKey, { revokedAtMs, issuerId, reason });
};

/** Records a revocation in this cluster, and announces it where lists are unified. */
export const writeRevocation = async (
  tx: Transaction,
  mount: MountScope,
  cluster: ThisCluster,
  serialKey: string,
  revocation: Revocation,
): Promise<void> => {
  revocationRecords(mount).write(tx, serialKey, revocation);
  const { revokedAtMs, issuerId, reason } = revocation;
  // For the next delta list, and for the worker in case this request does not rebuild the lists.
  pendingRecords(mount).write(tx, serialKey, { revokedAtMs, issuerId, reason });
  if ((await loadCrlConfig(tx, mount)).unifiedCrl)
    announceRevocation(tx, mount, cluster, serialKey, revocation);
};
