/** Revocations stored by a cluster. Keys are serial numbers in hyphenated hexadecimal. */
import { jsonRecords, type RecordCollection } from '@keelson/storage';
import type { RevocationReason } from '@keelson/x509';
import { bulkPrefix, localPrefix, type MountScope, sharedPrefix } from '../mounts/mount-records.ts';
import type { Revoker } from './domain/revoker.ts';

export interface Revocation {
  readonly revokedAtMs: number;
  /** "" when no issuer of the mount made the certificate. */
  readonly issuerId: string;
  /** End of validity of the certificate, which may be deleted before its revocation. */
  readonly notAfterMs: number;
  /** RFC 5280 §5.3.1; undefined where none was given. */
  readonly reason?: RevocationReason | undefined;
  readonly revokedBy: Revoker;
  /** Whoever reported a compromise of the key after the revocation; undefined: nobody. */
  readonly compromiseReportedBy?: Revoker | undefined;
}

export const revocationRecords = (mount: MountScope): RecordCollection<Revocation> =>
  jsonRecords(bulkPrefix('revocations', mount));

/** The clusters whose revocations are meant: this one, or all. */
export type RevocationScope = 'own' | 'all';

/** Certificates revoked since the last complete list, by serial number; stored where delta lists are made. */
export interface PendingRevocation {
  readonly revokedAtMs: number;
  readonly issuerId: string;
  readonly reason?: RevocationReason | undefined;
}

export const pendingRecords = (
  mount: MountScope,
  scope: RevocationScope = 'own',
): RecordCollection<PendingRevocation> =>
  jsonRecords(
    scope === 'own'
      ? `${localPrefix(mount)}crl-pending/`
      : `${sharedPrefix(mount)}unified-crl-pending/`,
  );
