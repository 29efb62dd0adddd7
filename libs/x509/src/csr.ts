/** Certification requests (PKCS#10, RFC 2986). */
import type { KeyObject } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { DerReader } from './der/der-reader.ts';
import { contextTag, integer, sequence, setOf, TAG } from './der/der-types.ts';
import { constructed, encodeDer } from './der/der-writer.ts';
import { objectIdentifier } from './der/object-identifier.ts';
import { type Extension, extensionsSequence, parseExtensions } from './extensions/extension.ts';
import type { KeyAlgorithm } from './keys/key-algorithm.ts';
import {
  describePublicKeyOf,
  parsePublicKey,
  type SignatureScheme,
  type Signer,
  schemeOfIdentifier,
  verifyWithKey,
} from './keys/signature-scheme.ts';
import { parseSignedStructure, signStructure } from './signed-structure.ts';

/** RFC 2985 §5.4.2. */
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';

export interface CsrFields {
  /** Name, DER. */
  readonly subject: Uint8Array;
  /** SubjectPublicKeyInfo of the signing key, DER. */
  readonly publicKeyDer: Uint8Array;
  readonly extensions: readonly Extension[];
}

export interface ParsedCsr extends CsrFields {
  readonly keyAlgorithm: KeyAlgorithm;
}

/** A signed request, DER. */
export const createCsr = (fields: CsrFields, signer: Signer): Promise<Uint8Array> =>
  signStructure(
    encodeDer(
      sequence(
        integer(0),
        fields.subject,
        fields.publicKeyDer,
        constructed(
          contextTag(0, 'constructed'),
          fields.extensions.length === 0
            ? []
            : [
                sequence(
                  objectIdentifier(EXTENSION_REQUEST),
                  setOf([extensionsSequence(fields.extensions)]),
                ),
              ],
        ),
      ),
    ),
    signer,
  );

const MAX_CSR_BYTES = 128 * 1024;
const MAX_ATTRIBUTE_COUNT = 32;

const requestedExtensions = (attributes: DerReader): readonly Extension[] => {
  let extensions: readonly Extension[] = [];
  for (let count = 0; !attributes.atEnd; count++) {
    const attribute = attributes.enter();
    const type = attribute.readObjectIdentifier();
    const values = attribute.enter(TAG.set);
    if (count >= MAX_ATTRIBUTE_COUNT)
      throw new KeelsonError('pki.malformed', { text: 'too many attributes' });
    if (type === EXTENSION_REQUEST && !values.atEnd) extensions = parseExtensions(values.enter());
  }
  return extensions;
};

/** The parts of a request needed to verify its signature. */
interface Proof {
  readonly scheme: SignatureScheme;
  readonly key: KeyObject;
  readonly content: Uint8Array;
  readonly signature: Uint8Array;
}

/** @throws KeelsonError `pki.malformed`; `request.invalid` for unsupported algorithms */
const readRequest = (der: Uint8Array): { readonly csr: ParsedCsr; readonly proof: Proof } => {
  const { content, signatureAlgorithm, signature } = parseSignedStructure(der, MAX_CSR_BYTES);
  const fields = new DerReader(content).enter();
  if (fields.readSmallInteger() !== 0)
    throw new KeelsonError('pki.malformed', { text: 'unknown request version' });
  const subject = fields.read(TAG.sequence).bytes;
  const publicKeyDer = fields.read(TAG.sequence).bytes;
  // Some encoders omit an empty attribute set.
  const attributes = fields.readOptional(contextTag(0, 'constructed'));
  fields.expectEnd();
  const scheme = schemeOfIdentifier(signatureAlgorithm);
  const key = parsePublicKey(publicKeyDer);
  return {
    csr: {
      subject,
      publicKeyDer,
      keyAlgorithm: describePublicKeyOf(publicKeyDer, key),
      extensions: attributes ? requestedExtensions(new DerReader(attributes.content)) : [],
    },
    proof: { scheme, key, content, signature },
  };
};

/**
 * The fields of an untrusted request whose signature proves possession of its key.
 * @throws KeelsonError `pki.malformed`; `request.invalid` when the signature is wrong or the key
 * type is not supported
 */
export const parseCsr = (der: Uint8Array): ParsedCsr => {
  const { csr, proof } = readRequest(der);
  const { scheme, key, content, signature } = proof;
  if (!verifyWithKey(scheme, key, content, signature))
    throw new KeelsonError('request.invalid', { text: 'request signature invalid' });
  return csr;
};
