/**
 * Turns a request into the bytes of a certificate: names, lifetime, key, checks, signature.
 * Reads no records and no clock, so that it can run on any thread.
 */

import { KeelsonError } from '@keelson/errors';
import {
  type CertificateFields,
  chooseSignatureScheme,
  createKeyPair,
  createSigner,
  describeKey,
  EXTENSION,
  findExtension,
  type KeyPair,
  type KeyUsage,
  randomSerialNumber,
  type SchemeChoice,
  type Signer,
} from '@keelson/x509';
import { checkChain } from '../issuers/domain/chain-check.ts';
import type { SigningIssuer } from '../issuers/domain/signing-issuer.ts';
import { checkKeySize } from '../keys/domain/key-size.ts';
import { signLinted } from '../lints/lints.ts';
import type { Role } from '../roles/domain/role.ts';
import {
  lifetimeUnderRules,
  NO_RULES,
  privilegedBehavior,
  type RequestedLifetime,
} from '../validity/domain/lifetime.ts';
import { namesOfCsr, readCsrPem } from './domain/csr-names.ts';
import { checkCsrKey, decideIssuedKey, type KeyRequest } from './domain/key-rules.ts';
import { buildLeafCertificate } from './domain/leaf-certificate.ts';
import { type CsrNames, decideNames, type NameParameters } from './domain/requested-names.ts';
import { buildVerbatimCertificate } from './domain/verbatim-certificate.ts';

interface NamedOrder {
  readonly lifetime: RequestedLifetime;
  readonly names: NameParameters;
}

/** A certificate for a new key. */
export interface IssueOrder extends NamedOrder {
  readonly kind: 'issue';
  readonly key: KeyRequest;
}

/** A certificate for a CSR, taking only the fields the role allows. */
export interface SignOrder extends NamedOrder {
  readonly kind: 'sign';
  /** PEM. */
  readonly csr: string;
}

/** A certificate with the fields of a CSR, without a role's restrictions. */
export interface VerbatimOrder {
  readonly kind: 'verbatim';
  readonly lifetime: RequestedLifetime;
  /** PEM. */
  readonly csr: string;
  readonly scheme: SchemeChoice;
  readonly userIds: readonly string[];
  /** For CSRs that name none; undefined means the default of the key's type. */
  readonly keyUsages: readonly KeyUsage[] | undefined;
  /** For CSRs that name none. */
  readonly extendedKeyUsages: readonly string[];
  /** The issuer's rule for certificates that outlive it applies; otherwise the lifetime is cut. */
  readonly enforcesBehavior: boolean;
}

/** A certificate for a key whose possession was proven, with a given validity. */
export interface ProvenOrder {
  readonly kind: 'proven';
  readonly names: NameParameters;
  readonly publicKeyDer: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export type CertificateOrder = IssueOrder | SignOrder | VerbatimOrder | ProvenOrder;

export interface NewCertificate {
  readonly der: Uint8Array;
  /** Big-endian magnitude. */
  readonly serialNumber: Uint8Array;
  readonly notAfterMs: number;
  /** undefined where the caller holds the key. */
  readonly keyPair: KeyPair | undefined;
  readonly warnings: readonly string[];
}

/** Signers by issuer, then by scheme: describing a key costs half as much as signing with it. */
const signers = new WeakMap<SigningIssuer, Map<string, Signer>>();

const signerOf = (issuer: SigningIssuer, choice: SchemeChoice): Signer => {
  const ofIssuer = signers.get(issuer) ?? new Map<string, Signer>();
  signers.set(issuer, ofIssuer);
  const name = `${choice.signatureBits} ${choice.usePss}`;
  const known = ofIssuer.get(name);
  if (known !== undefined) return known;
  const { privateKey } = issuer;
  const scheme = chooseSignatureScheme(describeKey(privateKey), choice);
  const signer = createSigner(privateKey, scheme);
  ofIssuer.set(name, signer);
  return signer;
};

/**
 * Signs what passes every lint and the check of the chain above it.
 * @throws KeelsonError `pki.lint_failed`, `request.invalid`
 */
export const signChecked = (
  issuer: SigningIssuer,
  fields: CertificateFields,
  choice: SchemeChoice,
): Promise<Uint8Array> => {
  checkChain(issuer.chainRules, fields);
  return signLinted(fields, signerOf(issuer, choice), issuer.pathLength);
};

/** The serial number, and the fields that depend on the issuer. */
const issuerPart = (issuer: SigningIssuer) => ({
  serialNumber: randomSerialNumber(),
  issuerName: issuer.name,
  issuerKeyIdentifier: issuer.keyIdentifier,
  urls: issuer.urls,
});

const namedFields = (
  issuer: SigningIssuer,
  role: Role,
  order: NamedOrder,
  csrNames: CsrNames | undefined,
) => {
  const names = decideNames(role, order.names, csrNames);
  const lifetime = lifetimeUnderRules(order.lifetime, role, issuer, issuer.leafNotAfterBehavior);
  return {
    warnings: [...names.warnings, ...lifetime.warnings],
    build: (publicKeyDer: Uint8Array): CertificateFields =>
      buildLeafCertificate({ ...issuerPart(issuer), ...lifetime, role, names, publicKeyDer }),
  };
};

const makeIssued = async (
  issuer: SigningIssuer,
  role: Role,
  order: IssueOrder,
): Promise<NewCertificate> => {
  const key = decideIssuedKey(role, order.key);
  const named = namedFields(issuer, role, order, undefined);
  const keyPair = await createKeyPair(key.algorithm);
  const fields = named.build(keyPair.publicKeyDer);
  return {
    der: await signChecked(issuer, fields, role),
    serialNumber: fields.serialNumber,
    notAfterMs: fields.notAfterMs,
    keyPair,
    warnings: [...key.warnings, ...named.warnings],
  };
};

/** RFC 7633: its requester relies on clients that require a stapled status. */
const TLS_FEATURE_LEFT_OUT =
  'the certificate lacks the TLS feature extension (must-staple) that the CSR asks for: a role issues none';

const makeSigned = async (
  issuer: SigningIssuer,
  role: Role,
  order: SignOrder,
): Promise<NewCertificate> => {
  const csr = readCsrPem(order.csr);
  checkCsrKey(role, csr.keyAlgorithm);
  const named = namedFields(issuer, role, order, namesOfCsr(csr));
  const fields = named.build(csr.publicKeyDer);
  const requestsStaple = findExtension(csr.extensions, EXTENSION.tlsFeature) !== undefined;
  return {
    der: await signChecked(issuer, fields, role),
    serialNumber: fields.serialNumber,
    notAfterMs: fields.notAfterMs,
    keyPair: undefined,
    warnings: [...named.warnings, ...(requestsStaple ? [TLS_FEATURE_LEFT_OUT] : [])],
  };
};

const makeProven = async (
  issuer: SigningIssuer,
  role: Role,
  { names, publicKeyDer, notBeforeMs, notAfterMs }: ProvenOrder,
): Promise<NewCertificate> => {
  const decided = decideNames(role, names, undefined);
  const fields = buildLeafCertificate({
    ...issuerPart(issuer),
    role,
    names: decided,
    notBeforeMs,
    notAfterMs,
    publicKeyDer,
  });
  return {
    der: await signChecked(issuer, fields, role),
    serialNumber: fields.serialNumber,
    notAfterMs: fields.notAfterMs,
    keyPair: undefined,
    warnings: decided.warnings,
  };
};

const makeVerbatim = async (
  issuer: SigningIssuer,
  role: Role | undefined,
  order: VerbatimOrder,
): Promise<NewCertificate> => {
  const csr = readCsrPem(order.csr);
  checkKeySize(csr.keyAlgorithm);
  const behavior = privilegedBehavior(issuer.leafNotAfterBehavior, {
    isEnforced: order.enforcesBehavior,
  });
  const rules = role ?? NO_RULES;
  const lifetime = lifetimeUnderRules(order.lifetime, rules, issuer, behavior);
  const fields = buildVerbatimCertificate({
    ...issuerPart(issuer),
    ...lifetime,
    csr,
    defaultKeyUsages: order.keyUsages,
    defaultExtendedKeyUsages: order.extendedKeyUsages,
    userIds: order.userIds,
  });
  return {
    der: await signChecked(issuer, fields, order.scheme),
    serialNumber: fields.serialNumber,
    notAfterMs: fields.notAfterMs,
    keyPair: undefined,
    warnings: lifetime.warnings,
  };
};

/** An order with all that making its certificate needs. */
export interface OrderUnderIssuer {
  readonly issuer: SigningIssuer;
  /** undefined only for an order that needs none. */
  readonly role: Role | undefined;
  readonly order: CertificateOrder;
}

/** @throws KeelsonError with the first rule that is broken; nothing is signed then */
export const makeOrdered = async ({
  issuer,
  role,
  order,
}: OrderUnderIssuer): Promise<NewCertificate> => {
  if (order.kind === 'verbatim') return makeVerbatim(issuer, role, order);
  if (role === undefined) throw new KeelsonError('pki.role_not_found', { role: '' });
  switch (order.kind) {
    case 'issue':
      return makeIssued(issuer, role, order);
    case 'sign':
      return makeSigned(issuer, role, order);
    case 'proven':
      return makeProven(issuer, role, order);
  }
};
