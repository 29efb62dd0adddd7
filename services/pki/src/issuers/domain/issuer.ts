/** An issuer: a CA certificate of the mount and its permitted uses. Reference §2.7. */
import { KeelsonError } from '@keelson/errors';
import {
  EXTENSION,
  findExtension,
  type ParsedCertificate,
  parseKeyUsage,
  type RevocationReason,
  type SignatureScheme,
} from '@keelson/x509';
import type { AuthorityUrls } from '../../authority-urls/domain/authority-urls.ts';
import type { Revoker } from '../../certificates/domain/revoker.ts';
import type { LeafNotAfterBehavior } from '../../validity/domain/lifetime.ts';

export const ISSUER_USAGES = [
  'read-only',
  'issuing-certificates',
  'crl-signing',
  'ocsp-signing',
] as const;
export type IssuerUsage = (typeof ISSUER_USAGES)[number];

/** Checks of a new certificate against the chain above it that an issuer may disable. */
export const CHAIN_CHECKS = [
  'critical_extension',
  'path_length',
  'name',
  'name_constraint',
] as const;
export type ChainCheck = (typeof CHAIN_CHECKS)[number];

export interface Issuer {
  readonly id: string;
  /** "" when it has none. */
  readonly name: string;
  /** Key of the mount that belongs to the certificate; "" if there is none. */
  readonly keyId: string;
  /** DER in base64. */
  readonly certificate: string;
  readonly leafNotAfterBehavior: LeafNotAfterBehavior;
  readonly usages: readonly IssuerUsage[];
  /** undefined: the usual scheme of the key. */
  readonly revocationScheme?: SignatureScheme | undefined;
  /** Ids of issuers, this one first; empty: the chain is found. */
  readonly manualChain: readonly string[];
  /** undefined: those of the mount. */
  readonly urls?: AuthorityUrls | undefined;
  readonly disabledChecks?: readonly ChainCheck[] | undefined;
  readonly revokedAtMs?: number | undefined;
  /** RFC 5280 §5.3.1; undefined where none was given. */
  readonly revocationReason?: RevocationReason | undefined;
  readonly revokedBy?: Revoker | undefined;
  /** Whoever reported a compromise of the key after the revocation; undefined: nobody. */
  readonly compromiseReportedBy?: Revoker | undefined;
  /** A self-signed certificate that was made here, not imported. */
  readonly isGeneratedRoot?: true | undefined;
}

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
