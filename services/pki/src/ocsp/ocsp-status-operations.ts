import { deriveView, type Store } from '@keelson/storage';
import {
  type CertificateStatus,
  isSignedBy,
  type ParsedCertificate,
  parseCertificate,
  toSerialKey,
} from '@keelson/x509';
import { findCertificate, revocationRecords } from '../certificates/certificate-records.ts';
import { findClusterRevocation } from '../clusters/cluster-records.ts';
import { loadPolicyService, policyServicePath } from '../external-policy/policy-service-records.ts';
import type { Authority, IssuerInUse } from '../issuers/domain/authority.ts';
import { type MountScope, sharedPrefix } from '../mounts/mount-records.ts';
import { roleRecords } from '../roles/role-records.ts';

/** What a status depends on besides the records of the certificate itself. */
export interface StatusScope {
  readonly mount: MountScope;
  readonly authority: Authority;
  /** A role may have issued certificates that were not stored: nothing is known of those. */
  readonly hasUnstored: boolean;
}

const GOOD: CertificateStatus = { kind: 'good' };
const UNKNOWN: CertificateStatus = { kind: 'unknown' };

const isIssuedBy = (certificate: ParsedCertificate, [issuer]: readonly IssuerInUse[]): boolean =>
  issuer !== undefined &&
  Buffer.from(issuer.certificate.subject).equals(certificate.issuer) &&
  isSignedBy(certificate, issuer.certificate.publicKeyDer);

/** The status of a serial number under issuers of one name and key (ruling 19). */
export const findStatus = async (
  store: Store,
  { mount, authority, hasUnstored }: StatusScope,
  issuers: readonly IssuerInUse[],
  serialNumber: Uint8Array,
): Promise<CertificateStatus> => {
  if (issuers.length === 0) return UNKNOWN;
  const serialKey = toSerialKey(serialNumber);
  const own = authority.issuers.find(
    ({ certificate }) =>
      toSerialKey(certificate.serialNumber) === serialKey && isIssuedBy(certificate, issuers),
  );
  if (own !== undefined)
    return own.issuer.revokedAtMs === undefined
      ? GOOD
      : { kind: 'revoked', revokedAtMs: own.issuer.revokedAtMs };
  const { unifiedCrl } = authority.settings.crl;
  const revocation =
    (await revocationRecords(mount).find(store, serialKey)) ??
    (unifiedCrl ? await findClusterRevocation(store, mount, serialKey) : undefined);
  if (revocation !== undefined) {
    const isOfAnother =
      authority.issuers.some(({ issuer }) => issuer.id === revocation.issuerId) &&
      !issuers.some(({ issuer }) => issuer.id === revocation.issuerId);
    const { revokedAtMs, reason } = revocation;
    return isOfAnother ? UNKNOWN : { kind: 'revoked', revokedAtMs, reason };
  }
  const der = await findCertificate(store, mount, serialKey);
  if (der === undefined) return hasUnstored ? GOOD : UNKNOWN;
  return isIssuedBy(parseCertificate(der), issuers) ? GOOD : UNKNOWN;
};

/** Whether a role of a mount has `no_store`, or a policy service may have wanted it, as of each call. */
export const createUnstoredView = (store: Store): ((mount: MountScope) => Promise<boolean>) => {
  const views = new Map<string, () => Promise<boolean>>();
  return (mount) => {
    const key = sharedPrefix(mount);
    let view = views.get(key);
    if (view === undefined) {
      const roles = roleRecords(mount);
      view = deriveView(
        store,
        [roles.prefix, policyServicePath(mount)],
        async (reads) =>
          (await loadPolicyService(reads, mount)).updatedAtMs > 0 ||
          (await roles.entries(reads)).some(([, { noStore }]) => noStore),
      );
      views.set(key, view);
    }
    return view();
  };
};
