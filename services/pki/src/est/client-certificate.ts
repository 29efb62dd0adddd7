/** The TLS client certificate that the gateway verified, and whether it allows enrolment (RFC 7030 §3.3.2). */

import { clientCertificatesOf } from '@keelson/edge';
import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { RequestHead } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import {
  EXTENDED_KEY_USAGE,
  EXTENSION,
  findExtension,
  type ParsedCertificate,
  parseBasicConstraints,
  parseCertificate,
  parseExtendedKeyUsage,
  toSerialKey,
} from '@keelson/x509';
import { findRevocation } from '../clusters/cluster-records.ts';
import type { Authority, IssuerInUse } from '../issuers/domain/authority.ts';
import type { CertificateAuthenticator } from './domain/est-config.ts';

/** The certificate of the client, and those that it has sent with it; undefined where it showed none. */
export const clientCertificateOf = (
  head: Pick<RequestHead, 'headers'>,
):
  | { readonly certificate: ParsedCertificate; readonly chain: readonly Uint8Array[] }
  | undefined => {
  const [der, ...chain] = clientCertificatesOf(head);
  return der && { certificate: parseCertificate(der), chain };
};

const refuse = (reason: string): never => {
  throw new KeelsonError('pki.est_certificate_refused', { reason });
};

const ofClient = ({ extensions }: ParsedCertificate): boolean => {
  const extension = findExtension(extensions, EXTENSION.extendedKeyUsage);
  if (extension === undefined) return true;
  const usages = parseExtendedKeyUsage(extension.value);
  return usages.includes(EXTENDED_KEY_USAGE.ClientAuth) || usages.includes(EXTENDED_KEY_USAGE.Any);
};

const isOfCa = ({ extensions }: ParsedCertificate): boolean => {
  const extension = findExtension(extensions, EXTENSION.basicConstraints);
  return extension !== undefined && parseBasicConstraints(extension.value).isCa;
};

const isAccepted = (
  authority: Authority,
  { issuers }: Pick<CertificateAuthenticator, 'issuers'>,
  signer: IssuerInUse,
): boolean =>
  issuers.length === 0
    ? signer.hasKey
    : issuers.some((reference) => authority.findIssuer(reference) === signer);

export interface CertificateCheck {
  readonly reads: Reads;
  readonly mount: MountScope;
  readonly authority: Authority;
  readonly authenticator: CertificateAuthenticator;
  readonly nowMs: number;
}

/**
 * An accepted certificate, by the one who made it: `own` of this mount, whose names it had decided then;
 * `foreign` of another authority, such as the manufacturer's, which `issuers` or an auth method names.
 */
export type ClientOrigin = 'own' | 'foreign';

/**
 * Checks that a certificate is of an accepted issuer, valid now and for clients.
 * @throws KeelsonError `pki.est_certificate_refused`
 */
export const checkClientCertificate = async (
  { reads, mount, authority, authenticator, nowMs }: CertificateCheck,
  certificate: ParsedCertificate,
): Promise<ClientOrigin> => {
  const signer = authority.findSigner(certificate);
  // Otherwise the auth method knows the issuers.
  const isByIssuers = authenticator.accessor === '' || authenticator.issuers.length > 0;
  if (isByIssuers && (signer === undefined || !isAccepted(authority, authenticator, signer)))
    return refuse('no accepted issuer has signed it');
  if (nowMs < certificate.notBeforeMs || nowMs > certificate.notAfterMs)
    refuse('it is not valid at this time');
  if (signer?.issuer.revokedAtMs !== undefined) refuse('its issuer is revoked');
  if (isOfCa(certificate)) refuse('it is a CA certificate');
  if (!ofClient(certificate)) refuse('its extended key usage is not that of clients');
  if (signer === undefined) return 'foreign';
  const serialKey = toSerialKey(certificate.serialNumber);
  const { unifiedCrl } = authority.settings.crl;
  const revocation = await findRevocation(reads, mount, { unifiedCrl, serialKey });
  if (revocation !== undefined) refuse('it is revoked');
  return signer.hasKey ? 'own' : 'foreign';
};
