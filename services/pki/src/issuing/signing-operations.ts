/** What every way of issuing shares: the issuer, the lifetime, the signature, and what is kept of it. */
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import {
  type CertificateFields,
  type KeyPair,
  type SchemeChoice,
  toSerialKey,
} from '@keelson/x509';
import { metadataRecords, writeCertificate } from '../certificates/certificate-records.ts';
import type { Authority, IssuerInUse } from '../issuers/domain/authority.ts';
import type { LeafNotAfterBehavior } from '../issuers/domain/issuer.ts';
import type { Authorities } from '../issuers/issuer-records.ts';
import type { CertificateMaker } from '../making/certificate-maker.ts';
import { type MadeCertificate, signChecked } from '../making/make-certificate.ts';
import type { MountScope } from '../mounts/mount-records.ts';
import type { CompromisedKeys } from '../revocation/compromised-keys.ts';
import type { Role } from '../roles/domain/role.ts';
import {
  type AskedLifetime,
  type Lifetime,
  type LifetimeRules,
  lifetimeUnderRules,
} from './domain/lifetime.ts';

export interface IssuingParts {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly maker: CertificateMaker;
  readonly compromisedKeys: CompromisedKeys;
  readonly clock: Clock;
}

export interface IssuingMount extends MountScope {
  readonly defaultLeaseTtlSeconds: number;
  readonly maxLeaseTtlSeconds: number;
}

/** How long a certificate is asked to be valid. */
export interface LifetimeParameters {
  readonly mount: IssuingMount;
  readonly ttlSeconds: number;
  readonly notAfterMs: number | undefined;
  readonly overlong: 'refuse' | 'cap';
}

/** What every way of issuing is asked. */
export interface IssuingRequest extends LifetimeParameters {
  /** "": none. */
  readonly roleName: string;
  /** From the path; undefined: the role's. */
  readonly issuerRef: string | undefined;
  /** Base64 kept beside the certificate; "": none. */
  readonly metadata: string;
}

/** What a role, or what decides in its place, says of keeping a certificate. */
export type KeepingRules = Pick<Role, 'noStore' | 'noStoreMetadata' | 'generateLease'>;

export interface IssuedCertificate extends MadeCertificate {
  readonly serialKey: string;
  readonly issuer: IssuerInUse;
  readonly chain: readonly IssuerInUse[];
  readonly role: KeepingRules | undefined;
}

/** @throws KeelsonError when there is none, or it may not or cannot sign */
export const requireSigner = (authority: Authority, reference: string): IssuerInUse => {
  const issuer = authority.requireIssuer(reference);
  issuer.requireUsage('issuing-certificates');
  return issuer;
};

/** What is asked for, as of now. */
export const askedLifetime = (
  { clock }: IssuingParts,
  { mount, ttlSeconds, notAfterMs, overlong }: LifetimeParameters,
): AskedLifetime => ({
  nowMs: clock.nowMs(),
  ttlSeconds,
  notAfterMs,
  mountDefaultTtlSeconds: mount.defaultLeaseTtlSeconds,
  mountMaxTtlSeconds: mount.maxLeaseTtlSeconds,
  overlong,
});

/** The validity of a certificate under an issuer, cut where the behavior says so. */
export const lifetimeUnder = (
  parts: IssuingParts,
  request: LifetimeParameters,
  rules: LifetimeRules,
  { certificate }: IssuerInUse,
  behavior: LeafNotAfterBehavior,
): Lifetime & { readonly isTruncated: boolean } =>
  lifetimeUnderRules(askedLifetime(parts, request), rules, certificate, behavior);

/** What is kept of a certificate. */
export interface Keeping {
  readonly mount: MountScope;
  readonly roleName: string;
  readonly metadata: string;
}

/** @throws KeelsonError `request.invalid` when the role keeps no metadata and there is some */
export const requireMetadataAllowed = ({ metadata }: Keeping, role: Role | undefined): void => {
  if (metadata !== '' && role?.noStoreMetadata)
    throw new KeelsonError('request.invalid', {
      text: 'metadata can not be stored: the role has no_store_metadata set to true',
    });
};

/** A certificate that is signed and not yet kept. */
export interface SignedCertificate extends MadeCertificate {
  readonly authority: Authority;
  readonly issuer: IssuerInUse;
  readonly role: KeepingRules | undefined;
}

/** Keeps a signed certificate as its role says; resolves when that is on disk. */
export const keepCertificate = async (
  { store }: IssuingParts,
  { mount, metadata, roleName }: Keeping,
  { authority, ...made }: SignedCertificate,
): Promise<IssuedCertificate> => {
  const { der, serialNumber, notAfterMs, issuer, role } = made;
  const serialKey = toSerialKey(serialNumber);
  const isStored = role?.noStore !== true;
  if (isStored || metadata !== '')
    await store.transact((tx) => {
      if (isStored) writeCertificate(tx, mount, serialKey, der);
      if (metadata !== '')
        metadataRecords(mount).write(tx, serialKey, {
          metadata,
          issuerId: issuer.issuer.id,
          role: roleName,
          notAfterMs,
        });
    });
  return { ...made, chain: authority.chainOf(issuer), serialKey };
};

/** A certificate about to be signed. */
export interface Draft {
  readonly authority: Authority;
  readonly fields: CertificateFields;
  readonly issuer: IssuerInUse;
  readonly role?: Role | undefined;
  readonly scheme: SchemeChoice;
  readonly keyPair?: KeyPair;
  readonly warnings: readonly string[];
}

/** Signs a draft and keeps it as its role says. */
export const signAndKeep = async (
  parts: IssuingParts,
  keeping: Keeping,
  { authority, fields, issuer, role, scheme, keyPair, warnings }: Draft,
): Promise<IssuedCertificate> => {
  requireMetadataAllowed(keeping, role);
  const der = await signChecked(authority.signingIssuerOf(issuer), fields, scheme);
  const { serialNumber, notAfterMs } = fields;
  return keepCertificate(parts, keeping, {
    der,
    serialNumber,
    notAfterMs,
    keyPair,
    warnings,
    authority,
    issuer,
    role,
  });
};
