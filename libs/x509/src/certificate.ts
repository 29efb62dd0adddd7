/** Certificates (RFC 5280 §4): written from fields, read from untrusted bytes. */
import { KeelsonError } from '@keelson/errors';
import { DerReader } from './der/der-reader.ts';
import {
  contextTag,
  explicit,
  integer,
  sequence,
  TAG,
  time,
  unsignedInteger,
} from './der/der-types.ts';
import { encodeDer } from './der/der-writer.ts';
import { type Extension, extensionsSequence, parseExtensions } from './extensions/extension.ts';
import { algorithmIdentifier, type SignatureScheme, type Signer } from './keys/signature-scheme.ts';
import { isStructureSignedBy, parseSignedStructure, signStructure } from './signed-structure.ts';

export interface CertificateFields {
  /** Big-endian magnitude. */
  readonly serialNumber: Uint8Array;
  /** Name, DER: the subject of the signing certificate, byte for byte. */
  readonly issuer: Uint8Array;
  /** Name, DER. */
  readonly subject: Uint8Array;
  /** Whole seconds. */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKeyDer: Uint8Array;
  readonly extensions: readonly Extension[];
}

/** The TBSCertificate for a signer of this scheme. */
export const encodeTbsCertificate = (
  fields: CertificateFields,
  scheme: SignatureScheme,
): Uint8Array =>
  encodeDer(
    sequence(
      explicit(0, integer(2)),
      unsignedInteger(fields.serialNumber),
      algorithmIdentifier(scheme),
      fields.issuer,
      sequence(time(fields.notBeforeMs), time(fields.notAfterMs)),
      fields.subject,
      fields.publicKeyDer,
      ...(fields.extensions.length > 0 ? [explicit(3, extensionsSequence(fields.extensions))] : []),
    ),
  );

/** A signed certificate, DER. */
export const createCertificate = (fields: CertificateFields, signer: Signer): Promise<Uint8Array> =>
  signStructure(encodeTbsCertificate(fields, signer.scheme), signer);

export interface ParsedCertificate extends CertificateFields {
  readonly der: Uint8Array;
  readonly tbs: Uint8Array;
  /** AlgorithmIdentifier, DER. */
  readonly signatureAlgorithm: Uint8Array;
  readonly signature: Uint8Array;
}

const MAX_CERTIFICATE_BYTES = 256 * 1024;

const readVersion = (fields: DerReader): number => {
  const wrapper = fields.readOptional(contextTag(0, 'constructed'));
  return wrapper === undefined ? 0 : new DerReader(wrapper.content).readSmallInteger();
};

const skipUniqueIdentifiers = (fields: DerReader): void => {
  for (const number of [1, 2]) fields.readOptional(contextTag(number, 'primitive'));
};

/**
 * The fields of an untrusted certificate. Its signature is not checked here.
 * @throws KeelsonError `pki.malformed`
 */
export const parseCertificate = (der: Uint8Array): ParsedCertificate => {
  const { content, signatureAlgorithm, signature } = parseSignedStructure(
    der,
    MAX_CERTIFICATE_BYTES,
  );
  const fields = new DerReader(content).enter();
  const version = readVersion(fields);
  if (version > 2) throw new KeelsonError('pki.malformed', { text: 'unknown certificate version' });
  const serialNumber = fields.readUnsignedInteger();
  const innerAlgorithm = fields.read(TAG.sequence).bytes;
  if (!Buffer.from(innerAlgorithm).equals(signatureAlgorithm))
    throw new KeelsonError('pki.malformed', { text: 'the two signature algorithms differ' });
  const issuer = fields.read(TAG.sequence).bytes;
  const validity = fields.enter();
  const notBeforeMs = validity.readTime();
  const notAfterMs = validity.readTime();
  validity.expectEnd();
  const subject = fields.read(TAG.sequence).bytes;
  const publicKeyDer = fields.read(TAG.sequence).bytes;
  skipUniqueIdentifiers(fields);
  const wrapper = fields.readOptional(contextTag(3, 'constructed'));
  fields.expectEnd();
  return {
    der,
    tbs: content,
    signatureAlgorithm,
    signature,
    serialNumber,
    issuer,
    subject,
    notBeforeMs,
    notAfterMs,
    publicKeyDer,
    extensions:
      wrapper === undefined ? [] : parseExtensions(new DerReader(wrapper.content).enter()),
  };
};

/**
 * The end of validity of a certificate that is known to be well-formed. Skips the other fields,
 * which costs a fraction of parsing them.
 * @throws KeelsonError `pki.malformed`
 */
export const readNotAfter = (der: Uint8Array): number => {
  const fields = new DerReader(der).enter().enter();
  fields.readOptional(contextTag(0, 'constructed'));
  fields.read(TAG.integer);
  fields.read(TAG.sequence);
  fields.read(TAG.sequence);
  const validity = fields.enter();
  validity.read();
  return validity.readTime();
};

/**
 * True when the private key of `publicKeyDer` signed the certificate with a scheme that is still
 * trusted.
 */
export const isSignedBy = (certificate: ParsedCertificate, publicKeyDer: Uint8Array): boolean =>
  isStructureSignedBy({ ...certificate, content: certificate.tbs }, publicKeyDer);
