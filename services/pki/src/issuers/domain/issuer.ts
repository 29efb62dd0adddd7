/** An issuer: a CA certificate of the mount and its permitted uses. Reference §2.7. */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { EXTENSION, findExtension, type ParsedCertificate, parseKeyUsage } from '@keelson/x509';
import { Type } from 'typebox';
import { authorityUrlsShape } from '../../authority-urls/domain/authority-urls.ts';
import { revokerShape } from '../../certificates/domain/revoker.ts';
import { leafNotAfterBehaviorShape } from '../../validity/domain/lifetime.ts';

export const ISSUER_USAGES = [
  'read-only',
  'issuing-certificates',
  'crl-signing',
  'ocsp-signing',
] as const;
export const issuerUsageShape = Type.Enum(ISSUER_USAGES);
export type IssuerUsage = Shaped<typeof issuerUsageShape>;

/** Checks of a new certificate against the chain above it that an issuer may disable. */
export const CHAIN_CHECKS = [
  'critical_extension',
  'path_length',
  'name',
  'name_constraint',
] as const;
export const chainCheckShape = Type.Enum(CHAIN_CHECKS);
export type ChainCheck = Shaped<typeof chainCheckShape>;

export const issuerShape = Type.Object({
  id: Type.String(),
  /** "" when it has none. */
  name: Type.String(),
  /** Key of the mount that belongs to the certificate; "" if there is none. */
  keyId: Type.String(),
  /** DER in base64. */
  certificate: Type.String(),
  leafNotAfterBehavior: leafNotAfterBehaviorShape,
  usages: Type.Array(issuerUsageShape),
  /** Undefined means the usual scheme of the key. */
  revocationScheme: Type.Optional(
    Type.Enum([
      'rsa-sha256',
      'rsa-sha384',
      'rsa-sha512',
      'rsa-pss-sha256',
      'rsa-pss-sha384',
      'rsa-pss-sha512',
      'ecdsa-sha256',
      'ecdsa-sha384',
      'ecdsa-sha512',
      'ed25519',
    ]),
  ),
  /** Ids of issuers, this one first; empty if the chain is to be found. */
  manualChain: Type.Array(Type.String()),
  /** Undefined means those of the mount. */
  urls: Type.Optional(authorityUrlsShape),
  disabledChecks: Type.Optional(Type.Array(chainCheckShape)),
  revokedAtMs: Type.Optional(Type.Number()),
  /** RFC 5280 §5.3.1; undefined where none was given. */
  revocationReason: Type.Optional(Type.Enum([0, 1, 2, 3, 4, 5, 6, 8, 9, 10])),
  revokedBy: Type.Optional(revokerShape),
  /** Whoever reported a compromise of the key after the revocation; undefined if nobody did. */
  compromiseReportedBy: Type.Optional(revokerShape),
  /** A self-signed certificate that was made here, not imported. */
  isGeneratedRoot: Type.Optional(Type.Literal(true)),
});
export type Issuer = Shaped<typeof issuerShape>;

/** RFC 5280 §4.2.1.3: without the extension every use is allowed. */
export const maySignCrls = ({ extensions }: Pick<ParsedCertificate, 'extensions'>): boolean => {
  const usage = findExtension(extensions, EXTENSION.keyUsage);
  return usage === undefined || parseKeyUsage(usage.value).includes('CRLSign');
};

/** A new issuer record. */
export const newIssuer = (
  certificate: Pick<ParsedCertificate, 'extensions'> & { readonly der: Uint8Array },
  { id, name, keyId, revocationScheme }: Pick<Issuer, 'id' | 'name' | 'keyId' | 'revocationScheme'>,
): Issuer => ({
  id,
  name,
  keyId,
  certificate: Buffer.from(certificate.der).toString('base64'),
  leafNotAfterBehavior: 'err',
  usages: ISSUER_USAGES.filter((usage) => usage !== 'crl-signing' || maySignCrls(certificate)),
  ...(revocationScheme !== undefined && { revocationScheme }),
  manualChain: [],
});

/** @throws KeelsonError `request.invalid` for an unknown value */
export const requireOneOf = <T extends string>(
  fieldName: string,
  known: readonly T[],
  value: string,
): T => {
  const found = known.find((candidate) => candidate === value);
  if (found === undefined)
    throw new KeelsonError('request.invalid', {
      text: `Unknown value for field \`${fieldName}\`: ${value}; expected one of ${known.join(', ')}`,
    });
  return found;
};
