/** Renewal information (RFC 9773 §4). */

import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import type { Store } from '@keelson/storage';
import { type ParsedCertificate, parseCertificate } from '@keelson/x509';
import { findCertificate } from '../../certificates/certificate-records.ts';
import { revocationRecords } from '../../certificates/revocation-records.ts';
import type { Authority } from '../../issuers/domain/authority.ts';
import type { Authorities } from '../../issuers/issuer-records.ts';
import { malformed } from '../problems/problem.ts';
import { isNamedBy, parseCertificateId } from './domain/certificate-id.ts';
import { type RenewalWindow, renewalWindow } from './domain/renewal-window.ts';

export interface RenewalParts {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly clock: Clock;
}

/**
 * The time at which the revocation of an issuer cut the last path from a certificate to a root; undefined while a path
 * is valid.
 */
const pathsCutAtMs = (authority: Authority, certificate: ParsedCertificate): number | undefined => {
  const signer = authority.findSigner(certificate);
  if (signer === undefined) return undefined;
  const cuts = authority
    .pathsOf(signer)
    .map((path) => path.flatMap(({ issuer }) => issuer.revokedAtMs ?? []))
    .map((revocations) => Math.min(...revocations));
  const lastCutMs = Math.max(...cuts);
  return Number.isFinite(lastCutMs) ? lastCutMs : undefined;
};

/** @throws AcmeProblem `malformed`, with 404 for an unknown certificate */
export const findRenewalWindow = async (
  { store, authorities, clock }: RenewalParts,
  mount: MountScope,
  certificateId: string,
): Promise<RenewalWindow> => {
  const id = parseCertificateId(certificateId);
  const der = await findCertificate(store, mount, id.serialKey);
  const certificate = der && parseCertificate(der);
  if (certificate === undefined || !isNamedBy(certificate, id))
    throw malformed('there is no such certificate', { status: 404 });
  const revocation = await revocationRecords(mount).find(store, id.serialKey);
  const revokedAtMs =
    revocation?.revokedAtMs ?? pathsCutAtMs(await authorities.of(mount), certificate);
  return renewalWindow(certificate, revokedAtMs, clock.nowMs());
};
