/** Requests for the status of certificates (RFC 6960 §4.1, nonce RFC 9654): written, and read from untrusted bytes. */
import { hash } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { DerReader } from '../der/der-reader.ts';
import {
  contextTag,
  derNull,
  explicit,
  octetString,
  sequence,
  TAG,
  unsignedInteger,
} from '../der/der-types.ts';
import { encodeDer } from '../der/der-writer.ts';
import { objectIdentifier } from '../der/object-identifier.ts';
import {
  type Extension,
  extension,
  extensionsSequence,
  findExtension,
  parseExtensions,
} from '../extensions/extension.ts';
import { publicKeyOctets } from '../extensions/key-identifiers.ts';

/** Digests that identify an issuer. SHA-1 is allowed, because they are not signatures. */
const SHA1_OID = '1.3.14.3.2.26';
const CERT_ID_HASHES = {
  [SHA1_OID]: 'sha1',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
} as const;

export type CertIdHash = (typeof CERT_ID_HASHES)[keyof typeof CERT_ID_HASHES];

/** Identifier of the certificate in question (CertID). */
export interface CertId {
  /** Encoded as in the request, because the response repeats it. */
  readonly der: Uint8Array;
  /** undefined if this library does not know the algorithm. */
  readonly hash: CertIdHash | undefined;
  /** Digest of the issuer's name, DER. */
  readonly nameHash: Uint8Array;
  /** Digest of the octets of the issuer's public key. */
  readonly keyHash: Uint8Array;
  readonly serialNumber: Uint8Array;
}

export interface OcspRequest {
  readonly certIds: readonly CertId[];
  /** Content of the nonce; undefined when there is none. */
  readonly nonce: Uint8Array | undefined;
}

const NONCE_OID = '1.3.6.1.5.5.7.48.1.2';
/** RFC 9654 §2.1. */
const MAX_NONCE_OCTETS = 128;
const MAX_REQUEST_BYTES = 64 * 1024;
const MAX_CERT_ID_COUNT = 100;

const malformed = (text: string): KeelsonError => new KeelsonError('pki.malformed', { text });

/**
 * A CertID from untrusted bytes.
 * @throws KeelsonError `pki.malformed`
 */
export const readCertId = (request: DerReader): CertId => {
  const { bytes, content } = request.read(TAG.sequence);
  const fields = new DerReader(content);
  const algorithm = fields.enter();
  const oid = algorithm.readObjectIdentifier();
  const nameHash = fields.read(TAG.octetString).content;
  const keyHash = fields.read(TAG.octetString).content;
  const serialNumber = fields.readUnsignedInteger();
  fields.expectEnd();
  const hash = Object.entries(CERT_ID_HASHES).find(([known]) => known === oid)?.[1];
  return { der: bytes, hash, nameHash, keyHash, serialNumber };
};

/**
 * RFC 6960 §4.4: extensions may be ignored unless they are critical; only the nonce is understood.
 * @throws KeelsonError `pki.malformed`
 */
export const readOcspExtensions = (content: Uint8Array): readonly Extension[] => {
  const extensions = parseExtensions(new DerReader(content).enter());
  const unknown = extensions.find(({ critical, oid }) => critical && oid !== NONCE_OID);
  if (unknown !== undefined) throw malformed(`critical extension ${unknown.oid} is not understood`);
  return extensions;
};

const readRequests = (list: DerReader): readonly CertId[] => {
  const certIds: CertId[] = [];
  while (!list.atEnd) {
    if (certIds.length >= MAX_CERT_ID_COUNT) throw malformed('too many requests in one');
    const request = list.enter();
    certIds.push(readCertId(request));
    const extensions = request.readOptional(contextTag(0, 'constructed'));
    if (extensions !== undefined) readOcspExtensions(extensions.content);
    request.expectEnd();
  }
  if (certIds.length === 0) throw malformed('a request for nothing');
  return certIds;
};

/**
 * The content of the nonce among these extensions; undefined when there is none.
 * @throws KeelsonError `pki.malformed`
 */
export const readOcspNonce = (extensions: readonly Extension[]): Uint8Array | undefined => {
  const found = findExtension(extensions, NONCE_OID);
  if (found === undefined) return undefined;
  const value = new DerReader(found.value);
  const nonce = value.read(TAG.octetString).content;
  value.expectEnd();
  if (nonce.byteLength === 0 || nonce.byteLength > MAX_NONCE_OCTETS)
    throw malformed('the nonce has a length that RFC 9654 forbids');
  return nonce;
};

/** Repeats the nonce of a request in its answer. */
export const nonceExtension = (nonce: Uint8Array): Extension =>
  extension(NONCE_OID, octetString(nonce));

/**
 * Identifies a certificate of an issuer. With SHA-1, the only digest that all responders know (RFC 5019 §2.1.1).
 * @param serialNumber big-endian magnitude
 */
export const createCertId = (
  { subject, publicKeyDer }: { readonly subject: Uint8Array; readonly publicKeyDer: Uint8Array },
  serialNumber: Uint8Array,
): CertId => {
  const nameHash = hash('sha1', subject, 'buffer');
  const keyHash = hash('sha1', publicKeyOctets(publicKeyDer), 'buffer');
  const der = encodeDer(
    sequence(
      sequence(objectIdentifier(SHA1_OID), derNull()),
      octetString(nameHash),
      octetString(keyHash),
      unsignedInteger(serialNumber),
    ),
  );
  return { der, hash: 'sha1', nameHash, keyHash, serialNumber };
};

/** A request for the status of one certificate, DER. */
export const encodeOcspRequest = ({ der }: CertId, nonce: Uint8Array): Uint8Array =>
  encodeDer(
    sequence(
      sequence(sequence(sequence(der)), explicit(2, extensionsSequence([nonceExtension(nonce)]))),
    ),
  );

/**
 * The content of a request. A signature is allowed but not verified, because answers are public.
 * @throws KeelsonError `pki.malformed`
 */
export const parseOcspRequest = (der: Uint8Array): OcspRequest => {
  if (der.byteLength > MAX_REQUEST_BYTES) throw malformed(`more than ${MAX_REQUEST_BYTES} bytes`);
  const outer = new DerReader(der);
  const request = outer.enter();
  outer.expectEnd();
  const fields = request.enter();
  const version = fields.readOptional(contextTag(0, 'constructed'));
  if (version !== undefined && new DerReader(version.content).readSmallInteger() !== 0)
    throw malformed('unknown version of request');
  fields.readOptional(contextTag(1, 'constructed'));
  const certIds = readRequests(fields.enter());
  const wrapper = fields.readOptional(contextTag(2, 'constructed'));
  fields.expectEnd();
  request.readOptional(contextTag(0, 'constructed'));
  request.expectEnd();
  const extensions = wrapper === undefined ? [] : readOcspExtensions(wrapper.content);
  return { certIds, nonce: readOcspNonce(extensions) };
};
