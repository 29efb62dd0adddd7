/**
 * What the clusters of a mount tell each other. Each cluster writes records under its own id into the
 * replicated scope, so those of the others are there as soon as replication has brought them.
 */
import { jsonRecords, type Reads, type RecordCollection, type Transaction } from '@keelson/storage';
import { type Revocation, revocationRecords } from '../certificates/certificate-records.ts';
import { pendingRecords } from '../crl/crl-records.ts';
import { crlConfigRecords, SETTING } from '../issuers/issuer-records.ts';
import { bulkPrefix, localPrefix, type MountScope, sharedPrefix } from '../mounts/mount-records.ts';
import { putForAll } from './outbox.ts';

/** Revocations of all clusters: `<serial>/<id of the cluster>`. */
export const clusterRevocationRecords = (mount: MountScope): RecordCollection<Revocation> =>
  jsonRecords(bulkPrefix('clusterRevocations', mount));

/** Prefix of what the clusters say of one certificate. */
export const clusterRevocationsOf = (mount: MountScope, serialKey: string): string =>
  `${clusterRevocationRecords(mount).path(serialKey)}/`;

/** That this cluster has told what it revoked before the lists became unified. */
export interface Told {
  readonly atMs: number;
  /** Of the configuration of the lists: which time. */
  readonly unification?: string | undefined;
}

export const toldRecords = (mount: MountScope): RecordCollection<Told> =>
  jsonRecords(`${localPrefix(mount)}unified/`);
export const TOLD = 'told';

/** This cluster among those of the mount. */
export interface ThisCluster {
  readonly id: string;
  /** Another cluster is the primary and writes what is replicated. */
  readonly isSecondary: boolean;
}

/** A certificate to be revoked by the cluster that issued it. */
export interface RevocationRequest {
  readonly requestingCluster: string;
  readonly requestedAtMs: number;
}

/** By serial number. */
export const requestRecords = (mount: MountScope): RecordCollection<RevocationRequest> =>
  jsonRecords(`${sharedPrefix(mount)}revocation-requests/`);

export interface RevocationConfirmation {
  readonly confirmingCluster: string;
  readonly confirmedAtMs: number;
}

/** By serial number: another record than the request, as another cluster writes it. */
export const confirmationRecords = (mount: MountScope): RecordCollection<RevocationConfirmation> =>
  jsonRecords(`${sharedPrefix(mount)}revocation-confirmations/`);

/** The oldest revocation of a certificate that a cluster told of. */
export const findClusterRevocation = async (
  reads: Reads,
  mount: MountScope,
  serialKey: string,
): Promise<(Revocation & { readonly clusters: readonly string[] }) | undefined> => {
  const records = jsonRecords<Revocation>(clusterRevocationsOf(mount, serialKey));
  const entries = await records.entries(reads);
  const [oldest] = entries.map(([, one]) => one).sort((a, b) => a.revokedAtMs - b.revokedAtMs);
  return oldest && { ...oldest, clusters: entries.map(([cluster]) => cluster) };
};

/** Tells all clusters of a revocation in this one. */
export const tellRevocation = (
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

/** Records a revocation in this cluster, and tells the others where lists are unified. */
export const writeRevocation = async (
  tx: Transaction,
  mount: MountScope,
  cluster: ThisCluster,
  serialKey: string,
  revocation: Revocation,
): Promise<void> => {
  revocationRecords(mount).write(tx, serialKey, revocation);
  const { revokedAtMs, issuerId, reason } = revocation;
  // For the next delta list, and for the worker when this request does not get to make the lists.
  pendingRecords(mount).write(tx, serialKey, { revokedAtMs, issuerId, reason });
  if ((await crlConfigRecords(mount).find(tx, SETTING.crl))?.unifiedCrl)
    tellRevocation(tx, mount, cluster, serialKey, revocation);
};
