import { type MountScope } from '@keelson/engine';
import type { Store } from '@keelson/storage';
import {
  type CertificateStatus,
  isSignedBy,
  namesAuthorityKey,
  type ParsedCertificate,
  parseCertificate,
  toSerialKey,
} from '@keelson/x509';
import { findCertificate } from '../certificates/certificate-records.ts';
import { findRevocation } from '../clusters/cluster-records.ts';
import type { Authority, IssuerInUse } from '../issuers/domain/authority.ts';

/** Inputs of a status, in addition to the records of the certificate itself. */
export interface StatusScope {
  readonly mount: MountScope;
  readonly authority: Authority;
  /** A role may have issued certificates that were not stored: nothing is known of those. */
  readonly hasUnstored: boolean;
}

const GOOD: CertificateStatus = { kind: 'good' };
const UNKNOWN: CertificateStatus = { kind: 'unknown' };

const isIssuedBy = (certificate: ParsedCertificate, issuer: IssuerInUse): boolean =>
  Buffer.from(issuer.certificate.subject).equals(certificate.issuer) &&
  isSignedBy(certificate, issuer.certificate.publicKeyDer);

/**
 * Stored certificates were signed by this mount, so an authority key identifier that matches is believed.
 * Verifying the signature takes longer than the rest of the answer; it decides only where the identifier is
 * missing or names another key.
 */
const wasIssuedBy = (certificate: ParsedCertificate, issuer: IssuerInUse): boolean =>
  (Buffer.from(issuer.certificate.subject).equals(certificate.issuer) &&
    namesAuthorityKey(certificate.extensions, issuer.keyIdentifier)) ||
  isIssuedBy(certificate, issuer);

/** The status of a serial number under issuers of one name and key (docs/divergences/pki.md). */
export const findStatus = async (
  store: Store,
  { mount, authority, hasUnstored }: StatusScope,
  issuers: readonly IssuerInUse[],
  serialNumber: Uint8Array,
): Promise<CertificateStatus> => {
  const [issuer] = issuers;
  if (issuer === undefined) return UNKNOWN;
  const serialKey = toSerialKey(serialNumber);
  const own = authority.issuers.find(
    ({ certificate }) =>
      toSerialKey(certificate.serialNumber) === serialKey && isIssuedBy(certificate, issuer),
  );
  if (own?.issuer.revokedAtMs !== undefined) {
    const { revokedAtMs, revocationReason: reason } = own.issuer;
    return { kind: 'revoked', revokedAtMs, reason };
  }
  const { unifiedCrl } = authority.settings.crl;
  const revocation = await findRevocation(store, mount, { unifiedCrl, serialKey });
  if (revocation !== undefined) {
    const isOfAnother =
      authority.issuers.some(({ issuer }) => issuer.id === revocation.issuerId) &&
      !issuers.some(({ issuer }) => issuer.id === revocation.issuerId);
    const { revokedAtMs, reason } = revocation;
    return isOfAnother ? UNKNOWN : { kind: 'revoked', revokedAtMs, reason };
  }
  if (own !== undefined) return GOOD;
  const der = await findCertificate(store, mount, serialKey);
  if (der === undefined) return hasUnstored ? GOOD : UNKNOWN;
  return wasIssuedBy(parseCertificate(der), issuer) ? GOOD : UNKNOWN;
};
