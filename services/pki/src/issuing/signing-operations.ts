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
import { signLinted } from '../lints/lints.ts';
import type { MountScope } from '../mounts/mount-records.ts';
import type { Role } from '../roles/domain/role.ts';
import {
  boundByIssuer,
  decideLifetime,
  type Lifetime,
  startWithIssuer,
} from './domain/lifetime.ts';

export interface IssuingParts {
  readonly store: Store;
  readonly authorities: Authorities;
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

export interface IssuedCertificate {
  readonly der: Uint8Array;
  readonly fields: CertificateFields;
  readonly serialKey: string;
  readonly issuer: IssuerInUse;
  readonly chain: readonly IssuerInUse[];
  /** undefined where the caller holds the key. */
  readonly keyPair: KeyPair | undefined;
  readonly role: Role | undefined;
  readonly warnings: readonly string[];
}

/** @throws KeelsonError when there is none, or it may not or cannot sign */
export const requireSigner = (authority: Authority, reference: string): IssuerInUse => {
  const issuer = authority.requireIssuer(reference);
  issuer.requireUsage('issuing-certificates');
  return issuer;
};

/** Values of a role that lifetimes depend on. */
export type LifetimeRules = Pick<
  Role,
  'ttlSeconds' | 'maxTtlSeconds' | 'notBeforeDurationSeconds' | 'notAfter'
>;

export const NO_RULES: LifetimeRules = {
  ttlSeconds: 0,
  maxTtlSeconds: 0,
  notBeforeDurationSeconds: 30,
  notAfter: '',
};

/** The validity of a certificate under an issuer, cut where the behavior says so. */
export const lifetimeUnder = (
  { clock }: IssuingParts,
  request: LifetimeParameters,
  rules: LifetimeRules,
  issuer: IssuerInUse,
  behavior: LeafNotAfterBehavior,
): Lifetime & { readonly isTruncated: boolean } => {
  const roleEndMs = rules.notAfter === '' ? undefined : Date.parse(rules.notAfter);
  if (Number.isNaN(roleEndMs))
    throw new KeelsonError('request.invalid', { text: "the role's not_after is not a time" });
  const lifetime = decideLifetime({
    nowMs: clock.nowMs(),
    // The role's own end takes effect before anything a request asks for.
    ttlSeconds: roleEndMs === undefined ? request.ttlSeconds : 0,
    notAfterMs: roleEndMs ?? request.notAfterMs,
    notBeforeDurationSeconds: rules.notBeforeDurationSeconds,
    roleTtlSeconds: rules.ttlSeconds,
    roleMaxTtlSeconds: rules.maxTtlSeconds,
    mountDefaultTtlSeconds: request.mount.defaultLeaseTtlSeconds,
    mountMaxTtlSeconds: request.mount.maxLeaseTtlSeconds,
    overlong: request.overlong,
  });
  const notAfterMs = boundByIssuer(lifetime.notAfterMs, issuer.certificate.notAfterMs, behavior);
  return {
    ...lifetime,
    notBeforeMs: startWithIssuer(
      { notBeforeMs: lifetime.notBeforeMs, notAfterMs },
      issuer.certificate.notBeforeMs,
    ),
    notAfterMs,
    isTruncated: notAfterMs < lifetime.notAfterMs,
  };
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

/** What is kept of a certificate. */
export interface Keeping {
  readonly mount: MountScope;
  readonly roleName: string;
  readonly metadata: string;
}

/** Signs a draft and keeps it as its role says. */
export const signAndKeep = async (
  { store }: IssuingParts,
  { mount, metadata, roleName }: Keeping,
  { authority, ...draft }: Draft,
): Promise<IssuedCertificate> => {
  const { fields, issuer, role } = draft;
  if (metadata !== '' && role?.noStoreMetadata)
    throw new KeelsonError('request.invalid', {
      text: 'metadata can not be stored: the role has no_store_metadata set to true',
    });
  authority.chainCheckOf(issuer)(fields);
  const der = await signLinted(fields, issuer.signer(draft.scheme), issuer.pathLength);
  const serialKey = toSerialKey(fields.serialNumber);
  const isStored = role?.noStore !== true;
  if (isStored || metadata !== '')
    await store.transact((tx) => {
      if (isStored) writeCertificate(tx, mount, serialKey, der);
      if (metadata !== '')
        metadataRecords(mount).write(tx, serialKey, {
          metadata,
          issuerId: issuer.issuer.id,
          role: roleName,
          notAfterMs: fields.notAfterMs,
        });
    });
  return {
    ...draft,
    role,
    keyPair: draft.keyPair,
    chain: authority.chainOf(issuer),
    der,
    serialKey,
  };
};
