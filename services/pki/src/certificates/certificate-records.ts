/** What a cluster keeps of the certificates it issued. Keys are serial numbers in hyphenated hexadecimal. */
import { jsonRecords, type Reads, type RecordCollection, type Transaction } from '@keelson/storage';
import type { RevocationReason } from '@keelson/x509';
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

/** What the requester wanted kept beside a certificate. */
export interface CertificateMetadata {
  /** Base64, as given. */
  readonly metadata: string;
  readonly issuerId: string;
  readonly role: string;
  readonly notAfterMs: number;
}

export const metadataRecords = (mount: MountScope): RecordCollection<CertificateMetadata> =>
  jsonRecords(`${localPrefix(mount)}cert-metadata/`);

export interface Revocation {
  readonly revokedAtMs: number;
  /** "" when no issuer of the mount made the certificate. */
  readonly issuerId: string;
  /** Of the certificate, which may be deleted before its revocation. */
  readonly notAfterMs: number;
  /** RFC 5280 §5.3.1; undefined where none was given. */
  readonly reason?: RevocationReason | undefined;
}

export const revocationRecords = (mount: MountScope): RecordCollection<Revocation> =>
  jsonRecords(bulkPrefix('revocations', mount));
