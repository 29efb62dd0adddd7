/** Answers of OCSP responders (RFC 6960 §4.2), read from untrusted bytes, and who has signed them. */
import { KeelsonError } from '@keelson/errors';
import { isSignedBy, type ParsedCertificate, parseCertificate } from '../certificate.ts';
import { DerReader } from '../der/der-reader.ts';
import { contextTag, TAG } from '../der/der-types.ts';
import { EXTENSION, type Extension, findExtension } from '../extensions/extension.ts';
import {
  EXTENDED_KEY_USAGE,
  parseBasicConstraints,
  parseExtendedKeyUsage,
  parseKeyUsage,
} from '../extensions/usages.ts';
import { isStructureSignedBy } from '../signed-structure.ts';
import { type CertId, readCertId, readOcspExtensions, readOcspNonce } from './ocsp-request.ts';

/** The statement of an answer about one certificate. */
export interface OcspStatement {
  readonly certId: CertId;
  readonly status: 'good' | 'revoked' | 'unknown';
  readonly thisUpdateMs: number;
  /** undefined if newer information is always available. */
  readonly nextUpdateMs: number | undefined;
}

/** The content of an answer, which proves nothing before its signature is verified. */
export interface OcspAnswer {
  readonly statements: readonly OcspStatement[];
  /** Content of the nonce; undefined when there is none. */
  readonly nonce: Uint8Array | undefined;
  /** Sent by the responder with its answer. */
  readonly certificates: readonly ParsedCertificate[];
  readonly tbs: Uint8Array;
  /** AlgorithmIdentifier, DER. */
  readonly signatureAlgorithm: Uint8Array;
  readonly signature: Uint8Array;
}

const BASIC_RESPONSE_OID = '1.3.6.1.5.5.7.48.1.1';
const MAX_RESPONSE_BYTES = 128 * 1024;
const MAX_STATEMENT_COUNT = 100;
const MAX_CERTIFICATE_COUNT = 8;
const STATUSES = new Map([
  [contextTag(0, 'primitive'), 'good'],
  [contextTag(1, 'constructed'), 'revoked'],
  [contextTag(2, 'primitive'), 'unknown'],
] as const);

const malformed = (text: string): KeelsonError => new KeelsonError('pki.malformed', { text });

const readWrapped = (fields: DerReader, number: number): Uint8Array | undefined =>
  fields.readOptional(contextTag(number, 'constructed'))?.content;

const readExtensions = (fields: DerReader): readonly Extension[] => {
  const wrapped = readWrapped(fields, 1);
  return wrapped === undefined ? [] : readOcspExtensions(wrapped);
};

const readStatement = (list: DerReader): OcspStatement => {
  const fields = list.enter();
  const certId = readCertId(fields);
  const status = STATUSES.get(fields.read().tag as 0x80);
  if (status === undefined) throw malformed('unknown status of a certificate');
  const thisUpdateMs = fields.readTime();
  const next = readWrapped(fields, 0);
  const nextUpdateMs = next === undefined ? undefined : new DerReader(next).readTime();
  readExtensions(fields);
  fields.expectEnd();
  return { certId, status, thisUpdateMs, nextUpdateMs };
};

const readAll = <T>(list: DerReader, read: () => T, limit: number): readonly T[] => {
  const items: T[] = [];
  while (!list.atEnd) {
    if (items.length >= limit) throw malformed('too many parts in an answer');
    items.push(read());
  }
  return items;
};

const readData = (tbs: Uint8Array): Pick<OcspAnswer, 'statements' | 'nonce'> => {
  const fields = new DerReader(tbs).enter();
  const version = readWrapped(fields, 0);
  if (version !== undefined && new DerReader(version).readSmallInteger() !== 0)
    throw malformed('unknown version of answer');
  // The name or key of the responder; the signature alone decides.
  fields.read();
  fields.readTime();
  const list = fields.enter();
  const statements = readAll(list, () => readStatement(list), MAX_STATEMENT_COUNT);
  const nonce = readOcspNonce(readExtensions(fields));
  fields.expectEnd();
  return { statements, nonce };
};

const readBasicResponse = (der: Uint8Array): OcspAnswer => {
  const outer = new DerReader(der);
  const parts = outer.enter();
  outer.expectEnd();
  const tbs = parts.read(TAG.sequence).bytes;
  const signatureAlgorithm = parts.read(TAG.sequence).bytes;
  const signature = parts.readBitString();
  const wrapped = readWrapped(parts, 0);
  parts.expectEnd();
  const list =
    wrapped === undefined ? new DerReader(new Uint8Array(0)) : new DerReader(wrapped).enter();
  const certificates = readAll(
    list,
    () => parseCertificate(list.read(TAG.sequence).bytes),
    MAX_CERTIFICATE_COUNT,
  );
  return { ...readData(tbs), certificates, tbs, signatureAlgorithm, signature };
};

/**
 * The content of an answer; undefined if the responder says that it has none, such as `tryLater`.
 * @throws KeelsonError `pki.malformed`
 */
export const parseOcspResponse = (der: Uint8Array): OcspAnswer | undefined => {
  if (der.byteLength > MAX_RESPONSE_BYTES) throw malformed(`more than ${MAX_RESPONSE_BYTES} bytes`);
  const outer = new DerReader(der);
  const fields = outer.enter();
  outer.expectEnd();
  const [status] = fields.read(TAG.enumerated).content;
  if (status !== 0) return undefined;
  const wrapped = readWrapped(fields, 0);
  if (wrapped === undefined) throw malformed('a successful answer without content');
  const response = new DerReader(wrapped).enter();
  if (response.readObjectIdentifier() !== BASIC_RESPONSE_OID)
    throw malformed('unknown kind of answer');
  const basic = response.read(TAG.octetString).content;
  response.expectEnd();
  return readBasicResponse(basic);
};

const isSame = (left: Uint8Array, right: Uint8Array): boolean => Buffer.from(left).equals(right);

const isValidAt = ({ notBeforeMs, notAfterMs }: ParsedCertificate, nowMs: number): boolean =>
  notBeforeMs <= nowMs && nowMs <= notAfterMs;

const isAuthority = ({ extensions }: ParsedCertificate): boolean => {
  const constraints = findExtension(extensions, EXTENSION.basicConstraints);
  const usages = findExtension(extensions, EXTENSION.keyUsage);
  return (
    constraints !== undefined &&
    parseBasicConstraints(constraints.value).isCa &&
    (usages === undefined || parseKeyUsage(usages.value).includes('CertSign'))
  );
};

const HONOURED: readonly string[] = [
  EXTENSION.basicConstraints,
  EXTENSION.keyUsage,
  EXTENSION.extendedKeyUsage,
];

/** Whether a certificate is one of a responder: it must have the usage, which `Any` does not give (RFC 6960 §4.2.2.2). */
const isOfResponder = ({ extensions }: ParsedCertificate): boolean => {
  const extended = findExtension(extensions, EXTENSION.extendedKeyUsage);
  const usages = findExtension(extensions, EXTENSION.keyUsage);
  return (
    extended !== undefined &&
    parseExtendedKeyUsage(extended.value).includes(EXTENDED_KEY_USAGE.OCSPSigning) &&
    (usages === undefined || parseKeyUsage(usages.value).includes('DigitalSignature')) &&
    extensions.every(({ oid, critical }) => !critical || HONOURED.includes(oid))
  );
};

/**
 * Whether an answer is of the issuer of a certificate: signed by its key, by a responder whose certificate it has signed
 * itself, or in the same two ways by another certificate that is trusted.
 * @throws KeelsonError `pki.malformed`
 */
export const isOcspAnswerOf = (
  answer: OcspAnswer,
  {
    issuer,
    trusted,
    nowMs,
  }: {
    readonly issuer: ParsedCertificate;
    /** Certificates of responders, and of authorities that sign them. */
    readonly trusted: readonly ParsedCertificate[];
    readonly nowMs: number;
  },
): boolean => {
  const isBy = ({ publicKeyDer }: ParsedCertificate): boolean =>
    isStructureSignedBy({ ...answer, content: answer.tbs }, publicKeyDer);
  const current = trusted.filter((one) => isValidAt(one, nowMs));
  if ([issuer, ...current].some(isBy)) return true;
  const authorities = [issuer, ...current.filter(isAuthority)];
  return answer.certificates.some(
    (one) =>
      isValidAt(one, nowMs) &&
      isOfResponder(one) &&
      isBy(one) &&
      authorities.some(
        ({ subject, publicKeyDer }) => isSame(subject, one.issuer) && isSignedBy(one, publicKeyDer),
      ),
  );
};
