/** Steps that all ways of issuing share: choosing the issuer, the lifetime, signing, storing. */

import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
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
import type { Authorities } from '../issuers/issuer-records.ts';
import type { CompromisedKeys } from '../keys/compromised-keys.ts';
import type { Role } from '../roles/domain/role.ts';
import {
  type LeafNotAfterBehavior,
  type Lifetime,
  type LifetimeManners,
  type LifetimeRules,
  lifetimeUnderRules,
  type RequestedLifetime,
} from '../validity/domain/lifetime.ts';
import { type NewCertificate, signChecked } from './build-certificate.ts';
import type { CertificateMaker } from './certificate-maker.ts';

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

/** The requested validity of a certificate. */
export interface LifetimeParameters extends LifetimeManners {
  readonly mount: IssuingMount;
  readonly ttlSeconds: number;
  readonly notBeforeMs?: number | undefined;
  readonly notAfterMs: number | undefined;
}

/** Parameters that all ways of issuing share. */
export interface IssuingRequest extends LifetimeParameters {
  /** Empty when the value is not given. */
  readonly roleName: string;
  /** From the path; undefined means the role's. */
  readonly issuerRef: string | undefined;
  /** Base64, stored with the certificate; empty when there is none. */
  readonly metadata: string;
  /** As in `StoredAt`. */
  readonly requireLeaseRoom?: (() => Promise<void>) | undefined;
}

/** How a role, or a policy in its place, wants certificates stored. */
export type StorageRules = Pick<Role, 'noStore' | 'noStoreMetadata' | 'generateLease'>;

export interface IssuedCertificate extends NewCertificate {
  readonly serialKey: string;
  readonly issuer: IssuerInUse;
  readonly chain: readonly IssuerInUse[];
  readonly role: StorageRules | undefined;
}

/** @throws KeelsonError when the issuer does not exist, or may not or cannot sign */
export const requireSigner = (authority: Authority, reference: string): IssuerInUse => {
  const issuer = authority.requireIssuer(reference);
  issuer.requireUsage('issuing-certificates');
  return issuer;
};

/** The requested lifetime, with the time of the request and the limits of the mount. */
export const requestedLifetime = (
  { clock }: IssuingParts,
  { mount, ttlSeconds, notBeforeMs, notAfterMs, overlong, absoluteTimes }: LifetimeParameters,
): RequestedLifetime => ({
  nowMs: clock.nowMs(),
  ttlSeconds,
  notBeforeMs,
  notAfterMs,
  mountDefaultTtlSeconds: mount.defaultLeaseTtlSeconds,
  mountMaxTtlSeconds: mount.maxLeaseTtlSeconds,
  overlong,
  absoluteTimes,
});

/** The validity of a certificate under an issuer, truncated if the behavior requires it. */
export const lifetimeUnder = (
  parts: IssuingParts,
  request: LifetimeParameters,
  rules: LifetimeRules,
  { certificate }: IssuerInUse,
  behavior: LeafNotAfterBehavior,
): Lifetime & { readonly isTruncated: boolean } =>
  lifetimeUnderRules(requestedLifetime(parts, request), rules, certificate, behavior);

/** Where a certificate is stored, and with which metadata. */
export interface StoredAt {
  readonly mount: MountScope;
  readonly roleName: string;
  readonly metadata: string;
  /** Refuses a certificate with a lease where a quota has no room for one; absent for those that never have one. */
  readonly requireLeaseRoom?: (() => Promise<void>) | undefined;
}

/** @throws KeelsonError `request.invalid` when the role keeps no metadata and there is some */
export const requireMetadataAllowed = ({ metadata }: StoredAt, role: Role | undefined): void => {
  if (metadata !== '' && role?.noStoreMetadata)
    throw new KeelsonError('request.invalid', {
      text: 'metadata can not be stored: the role has no_store_metadata set to true',
    });
};

/** A signed certificate that is not stored yet. */
export interface SignedCertificate extends NewCertificate {
  readonly authority: Authority;
  readonly issuer: IssuerInUse;
  readonly role: StorageRules | undefined;
}

/** Stores a signed certificate if its role says so; resolves when it is on disk. */
export const storeCertificate = async (
  { store }: IssuingParts,
  { mount, metadata, roleName, requireLeaseRoom }: StoredAt,
  { authority, ...made }: SignedCertificate,
): Promise<IssuedCertificate> => {
  const { der, serialNumber, notAfterMs, issuer, role } = made;
  const serialKey = toSerialKey(serialNumber);
  // Nobody has the certificate yet.
  if (role?.generateLease) await requireLeaseRoom?.();
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

/** Signs a draft and stores it if its role says so. */
export const signAndStore = async (
  parts: IssuingParts,
  keeping: StoredAt,
  { authority, fields, issuer, role, scheme, keyPair, warnings }: Draft,
): Promise<IssuedCertificate> => {
  requireMetadataAllowed(keeping, role);
  const der = await signChecked(authority.signingIssuerOf(issuer), fields, scheme);
  const { serialNumber, notAfterMs } = fields;
  return storeCertificate(parts, keeping, {
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
