/** Certificates stored by the cluster that issued them. Keys are serial numbers in hyphenated hexadecimal. */

import { localRecords, type MountScope } from '@keelson/engine';
import { type Reads, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import { mountBytes } from '../mounts/mount-records.ts';

/** Certificates are stored as their DER and nothing else: one lean record for each. */
export const certificates = mountBytes('certs', 'local');

export const certificatesPrefix = certificates.prefixOf;

export const findCertificate = async (
  reads: Reads,
  mount: MountScope,
  serialKey: string,
): Promise<Uint8Array | undefined> =>
  (await reads.read(certificatesPrefix(mount) + serialKey))?.value;

export const writeCertificate = (
  tx: Transaction,
  mount: MountScope,
  serialKey: string,
  der: Uint8Array,
): void => tx.write(certificatesPrefix(mount) + serialKey, der);

/** Metadata that the requester wanted stored with a certificate. */
export const certificateMetadataShape = Type.Object({
  /** Base64, as given. */
  metadata: Type.String(),
  issuerId: Type.String(),
  role: Type.String(),
  notAfterMs: Type.Number(),
});

export const metadataRecords = localRecords('cert-metadata', {
  version: 1,
  shape: certificateMetadataShape,
});
