/** Certificates stored by the cluster that issued them. Keys are serial numbers in hyphenated hexadecimal. */
import { jsonRecords, type Reads, type RecordCollection, type Transaction } from '@keelson/storage';
import { bulkPrefix, localPrefix, type MountScope } from '../mounts/mount-records.ts';

/** Certificates are stored as their DER and nothing else: one lean record for each. */
export const certificatesPrefix = (mount: MountScope): string => bulkPrefix('certificates', mount);

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
export interface CertificateMetadata {
  /** Base64, as given. */
  readonly metadata: string;
  readonly issuerId: string;
  readonly role: string;
  readonly notAfterMs: number;
}

export const metadataRecords = (mount: MountScope): RecordCollection<CertificateMetadata> =>
  jsonRecords(`${localPrefix(mount)}cert-metadata/`);
