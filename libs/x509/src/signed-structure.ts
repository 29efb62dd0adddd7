/** The structure of certificates, requests and lists: SEQUENCE { content, algorithm, signature BIT STRING }. */
import { KeelsonError } from '@keelson/errors';
import { DerReader } from './der/der-reader.ts';
import { bitString, sequence, TAG } from './der/der-types.ts';
import { encodeDer } from './der/der-writer.ts';
import {
  algorithmIdentifier,
  type Signer,
  schemeOfIdentifier,
  verifySignature,
} from './keys/signature-scheme.ts';

export interface SignedStructure {
  /** The signed element, as it is in the input. */
  readonly content: Uint8Array;
  /** AlgorithmIdentifier, DER. */
  readonly signatureAlgorithm: Uint8Array;
  readonly signature: Uint8Array;
}

/** Signs an encoded element and assembles the three parts. */
export const signStructure = async (content: Uint8Array, signer: Signer): Promise<Uint8Array> =>
  encodeDer(
    sequence(content, algorithmIdentifier(signer.scheme), bitString(await signer.sign(content))),
  );

/**
 * The three parts of untrusted DER.
 * @throws KeelsonError `pki.malformed`
 */
export const parseSignedStructure = (der: Uint8Array, limitBytes: number): SignedStructure => {
  if (der.byteLength > limitBytes)
    throw new KeelsonError('pki.malformed', { text: `more than ${limitBytes} bytes` });
  const outer = new DerReader(der);
  const parts = outer.enter();
  outer.expectEnd();
  const content = parts.read(TAG.sequence).bytes;
  const signatureAlgorithm = parts.read(TAG.sequence).bytes;
  const signature = parts.readBitString();
  parts.expectEnd();
  return { content, signatureAlgorithm, signature };
};

/**
 * True when the private key of `publicKeyDer` signed the content with a scheme that is still
 * trusted.
 */
export const isStructureSignedBy = (
  { content, signatureAlgorithm, signature }: SignedStructure,
  publicKeyDer: Uint8Array,
): boolean => {
  try {
    const scheme = schemeOfIdentifier(signatureAlgorithm);
    return verifySignature(scheme, publicKeyDer, content, signature);
  } catch (error) {
    if (error instanceof KeelsonError) return false;
    throw error;
  }
};
