/** Tables over certificates and revocations, for searches by other fields than the serial number. */

import { defineProjection, type Projection } from '@keelson/storage';
import { readNotAfter } from '@keelson/x509';
import { certificates } from './certificate-records.ts';
import { clusterRevocations, revocations } from './revocation-records.ts';

type CertificateRow = {
  readonly mount_uuid: string;
  /** As in record paths. */
  readonly serial: string;
  /** Epoch milliseconds. */
  readonly not_after: number;
};

type RevocationRow = {
  readonly mount_uuid: string;
  readonly serial: string;
  readonly issuer_id: string;
  readonly revoked_at: number;
  readonly not_after: number;
  /** 0 where none was given. */
  readonly reason: number;
};

type ClusterRevocationRow = RevocationRow & { readonly cluster: string };

/** Tables as queries see them. */
export interface CertificateTables {
  readonly pki_certificate: CertificateRow;
  readonly pki_revocation: RevocationRow;
  readonly pki_cluster_revocation: ClusterRevocationRow;
}

/** Keys are `<mount uuid>/<serial>`. */
const splitKey = (key: string): readonly [string, string] => {
  const slash = key.indexOf('/');
  return [key.slice(0, slash), key.slice(slash + 1)];
};

/**
 * Issuer of the revocations whose records cannot be decrypted. They stay on the lists of all issuers of their
 * mount: a revoked certificate must not become valid again because its issuer is no longer known.
 */
export const UNREADABLE_ISSUER = 'unreadable';

/** End of validity of certificates whose revocations cannot be read. */
export const UNREADABLE_NOT_AFTER = Number.MAX_SAFE_INTEGER;

/** Kept until the record is restored. */
const unreadableRevocation = (key: string): RevocationRow => {
  const [mount_uuid, serial] = splitKey(key);
  return {
    mount_uuid,
    serial,
    issuer_id: UNREADABLE_ISSUER,
    revoked_at: 0,
    not_after: UNREADABLE_NOT_AFTER,
    reason: 0,
  };
};

export const PKI_PROJECTIONS: readonly Projection[] = [
  defineProjection({
    table: 'pki_certificate',
    version: 1,
    source: { prefix: certificates.prefix, codec: { version: 1, decode: (_, der) => der } },
    columns: { mount_uuid: 'text', serial: 'text', not_after: 'integer' },
    indexes: [['mount_uuid', 'not_after', 'serial']],
    rows: (der: Uint8Array, key): CertificateRow[] => {
      const [mount_uuid, serial] = splitKey(key);
      return [{ mount_uuid, serial, not_after: readNotAfter(der) }];
    },
  }) as unknown as Projection,
  defineProjection({
    table: 'pki_revocation',
    version: 2,
    source: revocations,
    columns: {
      mount_uuid: 'text',
      serial: 'text',
      issuer_id: 'text',
      revoked_at: 'integer',
      not_after: 'integer',
      reason: 'integer',
    },
    indexes: [
      // Holds all that a revocation list needs, in its order.
      ['mount_uuid', 'issuer_id', 'serial', 'revoked_at', 'reason'],
      ['mount_uuid', 'not_after', 'serial'],
    ],
    rowsOfDamaged: (key) => [unreadableRevocation(key)],
    rows: ({ issuerId, revokedAtMs, notAfterMs, reason = 0 }, key): RevocationRow[] => {
      const [mount_uuid, serial] = splitKey(key);
      return [
        {
          mount_uuid,
          serial,
          issuer_id: issuerId,
          revoked_at: revokedAtMs,
          not_after: notAfterMs,
          reason,
        },
      ];
    },
  }) as unknown as Projection,
  defineProjection({
    table: 'pki_cluster_revocation',
    version: 2,
    source: clusterRevocations,
    columns: {
      mount_uuid: 'text',
      serial: 'text',
      cluster: 'text',
      issuer_id: 'text',
      revoked_at: 'integer',
      not_after: 'integer',
      reason: 'integer',
    },
    indexes: [
      ['mount_uuid', 'issuer_id', 'serial', 'revoked_at', 'reason'],
      ['mount_uuid', 'not_after', 'serial'],
    ],
    rowsOfDamaged: (key) => {
      const row = unreadableRevocation(key);
      const [serial, cluster] = splitKey(row.serial);
      return [{ ...row, serial, cluster }];
    },
    rows: ({ issuerId, revokedAtMs, notAfterMs, reason = 0 }, key): ClusterRevocationRow[] => {
      const [mount_uuid, place] = splitKey(key);
      const [serial, cluster] = splitKey(place);
      return [
        {
          mount_uuid,
          serial,
          cluster,
          issuer_id: issuerId,
          revoked_at: revokedAtMs,
          not_after: notAfterMs,
          reason,
        },
      ];
    },
  }) as unknown as Projection,
];
