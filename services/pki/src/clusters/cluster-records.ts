/**
 * Records by which the clusters of a mount inform each other. Each cluster writes under its own id in the
 * replicated scope, so that replication delivers them to the others.
 */

import { localRecords, type MountScope, sharedRecords, type ThisCluster } from '@keelson/engine';
import type { Reads, RecordCollection, Transaction } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { REVOCATION_REASON } from '@keelson/x509';
import { Type } from 'typebox';
import { revokerShape } from '../certificates/domain/revoker.ts';
import {
  clusterRevocations,
  pendingRecords,
  type Revocation,
  revocationRecords,
} from '../certificates/revocation-records.ts';
import { loadCrlConfig } from '../crl-config/crl-config-records.ts';
import { putForAll } from './outbox.ts';

/** Revocations of all clusters: `<serial>/<id of the cluster>`. */
export const clusterRevocationRecords = ({ uuid }: MountScope): RecordCollection<Revocation> =>
  clusterRevocations.below(uuid);

/** Prefix of the revocations of one certificate by all clusters. */
export const clusterRevocationsOf = (mount: MountScope, serialKey: string): string =>
  `${clusterRevocationRecords(mount).path(serialKey)}/`;

/** Marks that this cluster has announced its revocations from before the lists became unified. */
export const announcedShape = Type.Object({
  atMs: Type.Number(),
  /** The `unification` of the configuration of the lists. */
  unification: Type.Optional(Type.String()),
});

export const announcedRecords = localRecords('unified', { version: 1, shape: announcedShape });
export const ANNOUNCED = 'announced';

/** A certificate to be revoked by the cluster that issued it. */
export const revocationRequestShape = Type.Object({
  requestingCluster: Type.String(),
  requestedAtMs: Type.Number(),
  requestedBy: revokerShape,
  /** Undefined if the request has no reason. */
  reason: Type.Optional(Type.Enum([0, 1, 2, 3, 4, 5, 6, 8, 9, 10])),
});
export type RevocationRequest = Shaped<typeof revocationRequestShape>;

/** By serial number. */
export const requestRecords = sharedRecords('revocation-requests', {
  version: 1,
  shape: revocationRequestShape,
});

export const revocationConfirmationShape = Type.Object({
  confirmingCluster: Type.String(),
  confirmedAtMs: Type.Number(),
  /** The reason that the request gave. */
  reason: Type.Optional(Type.Enum([0, 1, 2, 3, 4, 5, 6, 8, 9, 10])),
});

/** By serial number; a separate record, because another cluster writes it. */
export const confirmationRecords = sharedRecords('revocation-confirmations', {
  version: 1,
  shape: revocationConfirmationShape,
});

/** The oldest announced revocation of a certificate, with the compromise if any cluster found one. */
export const findClusterRevocation = async (
  reads: Reads,
  mount: MountScope,
  serialKey: string,
): Promise<(Revocation & { readonly clusters: readonly string[] }) | undefined> => {
  const records = clusterRevocationRecords(mount).below(serialKey);
  const entries = await records.entries(reads);
  const revocations = entries.map(([, one]) => one).sort((a, b) => a.revokedAtMs - b.revokedAtMs);
  const [oldest] = revocations;
  if (oldest === undefined) return undefined;
  const { keyCompromise } = REVOCATION_REASON;
  const isCompromised = revocations.some(({ reason }) => reason === keyCompromise);
  const reason = isCompromised ? keyCompromise : oldest.reason;
  return { ...oldest, reason, clusters: entries.map(([cluster]) => cluster) };
};

/**
 * The revocation of a certificate that counts here: of this cluster, or of any where lists are unified.
 * @param serialKey serial number in hyphenated hexadecimal
 */
export const findRevocation = async (
  reads: Reads,
  mount: MountScope,
  { unifiedCrl, serialKey }: { readonly unifiedCrl: boolean; readonly serialKey: string },
): Promise<Revocation | undefined> =>
  (await revocationRecords(mount).find(reads, serialKey)) ??
  (unifiedCrl ? await findClusterRevocation(reads, mount, serialKey) : undefined);

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
