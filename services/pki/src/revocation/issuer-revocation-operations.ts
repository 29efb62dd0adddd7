/** Revokes issuers of the mount: they may no longer issue, and the lists of the issuers above contain them. */
import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Transaction } from '@keelson/storage';
import { type RevocationReason, reasonName, toSerialKey } from '@keelson/x509';
import { findCertificate } from '../certificates/certificate-records.ts';
import type { Revoker } from '../certificates/domain/revoker.ts';
import type { Revocation } from '../certificates/revocation-records.ts';
import { writeRevocation } from '../clusters/cluster-records.ts';
import { banKey } from '../clusters/key-bans.ts';
import type { Authority, IssuerInUse } from '../issuers/domain/authority.ts';
import { issuerRecords, loadAuthority, recordIssuerChange } from '../issuers/issuer-records.ts';
import {
  changeBy,
  isCompromise,
  judge,
  type PermittedRevocation,
  type RevocationChange,
} from './domain/revocation-table.ts';
import type { RevocationParts } from './revocation-operations.ts';

export interface IssuerRevokeRequest {
  readonly mount: MountScope;
  readonly issuerRef: string;
  /** Undefined if the request has no reason. */
  readonly reason: RevocationReason | undefined;
  readonly by: Revoker;
}

const permit = (reason: RevocationReason | undefined): PermittedRevocation => {
  const verdict = judge('issuer-operator', 'issuer', reason);
  if (verdict.kind === 'permitted') return verdict.permitted;
  throw new KeelsonError('request.invalid', {
    text: 'the issuer cannot be revoked with this reason',
  });
};

/** If the mount issued the certificate of an issuer, it is also recorded as a revoked certificate. */
const recordAsCertificate = async (
  { cluster }: RevocationParts,
  tx: Transaction,
  mount: MountScope,
  authority: Authority,
  { certificate, isSelfSigned }: IssuerInUse,
  revocation: Pick<Revocation, 'revokedAtMs' | 'reason' | 'revokedBy' | 'compromiseReportedBy'>,
): Promise<void> => {
  const signer = isSelfSigned ? undefined : authority.findSigner(certificate);
  if (signer === undefined) return;
  const serialKey = toSerialKey(certificate.serialNumber);
  const stored = await findCertificate(tx, mount, serialKey);
  if (stored === undefined || !Buffer.from(stored).equals(certificate.der)) return;
  await writeRevocation(tx, mount, cluster(), serialKey, {
    ...revocation,
    issuerId: signer.issuer.id,
    notAfterMs: certificate.notAfterMs,
  });
};

const recordRevocation = (
  parts: RevocationParts,
  { mount, issuerRef, by }: IssuerRevokeRequest,
  permitted: PermittedRevocation,
): Promise<{
  readonly change: RevocationChange;
  readonly reason: RevocationReason | undefined;
}> => {
  const nowMs = Math.floor(parts.clock.nowMs() / 1000) * 1000;
  return parts.store.transact(async (tx) => {
    const authority = await loadAuthority(tx, mount);
    const found = authority.requireIssuer(issuerRef);
    const { issuer, certificate } = found;
    const { revokedAtMs = nowMs, revocationReason } = issuer;
    const before = issuer.revokedAtMs === undefined ? undefined : { reason: revocationReason };
    const change = changeBy(permitted, before);
    const { kind, reason } = permitted;
    if (isCompromise(kind, reason)) {
      const serialKey = toSerialKey(certificate.serialNumber);
      await banKey(tx, mount, parts.cluster(), certificate.publicKeyDer, {
        bannedAtMs: nowMs,
        serialKey,
      });
    }
    if (change === 'unchanged') return { change, reason: revocationReason };
    const revokers =
      change === 'first'
        ? { revokedBy: by }
        : { revokedBy: issuer.revokedBy ?? by, compromiseReportedBy: by };
    const revocation = { revokedAtMs, reason, ...revokers };
    await recordAsCertificate(parts, tx, mount, authority, found, revocation);
    recordIssuerChange(tx, mount, parts.clock);
    issuerRecords(mount).write(tx, issuer.id, {
      ...issuer,
      revokedAtMs,
      revocationReason: reason,
      ...revokers,
      usages: issuer.usages.filter((usage) => usage !== 'issuing-certificates'),
    });
    return { change, reason };
  });
};

/**
 * Revokes an issuer, or records the compromise of a revoked one; returns warnings.
 * @throws KeelsonError `request.invalid`, `pki.issuer_not_found`
 */
export const revokeIssuer = async (
  parts: RevocationParts,
  request: IssuerRevokeRequest,
): Promise<readonly string[]> => {
  const { mount, issuerRef } = request;
  const permitted = permit(request.reason);
  const { change, reason } = await recordRevocation(parts, request, permitted);
  if (isCompromise(permitted.kind, permitted.reason)) await parts.carry(mount);
  if (change === 'unchanged')
    return permitted.reason === undefined || permitted.reason === reason
      ? []
      : [
          `the issuer was revoked before, and its reason stays ${reasonName(reason)}: only a compromise of the key replaces another reason`,
        ];
  const warnings = [...(await parts.crlBuilder.rebuild(mount))];
  const authority = await parts.authorities.of(mount);
  const found = authority.requireIssuer(issuerRef);
  if (found.isSelfSigned)
    warnings.push('this issuer is self-signed, so no CRL can announce its revocation');
  else if (authority.chainOf(found).length === 1)
    warnings.push(
      'no issuer of this mount signed the revoked issuer, so no CRL of this mount lists it',
    );
  if (authority.isDefault(found)) warnings.push('the default issuer was revoked');
  return warnings;
};
