/** Verification of client signatures: requests with account keys, CSRs with the keys they contain. */
import type { KeyObject } from 'node:crypto';
import { type ParsedCsr, parseCsr, parsePublicKey } from '@keelson/x509';
import { LRUCache } from 'lru-cache';
import { isSigned, type SignedText } from './jws.ts';

/**
 * Plain data, with octets as text where possible, because posting a view copies its whole buffer.
 */
export type SignatureJob =
  | {
      readonly kind: 'jws';
      readonly signed: SignedText;
      /** SubjectPublicKeyInfo, one character per octet. */
      readonly publicKey: string;
    }
  | { readonly kind: 'csr'; readonly der: Uint8Array };

export type CheckedSignature =
  | { readonly kind: 'jws'; readonly isValid: boolean }
  | { readonly kind: 'csr'; readonly csr: ParsedCsr };

const MAX_KEPT_KEYS = 1000;

/** Cached, because importing a key costs a third of a verification. */
const keys = new LRUCache<string, KeyObject>({ max: MAX_KEPT_KEYS });

const keyOf = (publicKey: string): KeyObject => {
  const known = keys.get(publicKey);
  if (known !== undefined) return known;
  const key = parsePublicKey(Buffer.from(publicKey, 'latin1'));
  keys.set(publicKey, key);
  return key;
};

/** @throws KeelsonError as `parseCsr` does */
export const checkSignature = (job: SignatureJob): CheckedSignature =>
  job.kind === 'jws'
    ? { kind: 'jws', isValid: isSigned(job.signed, keyOf(job.publicKey)) }
    : { kind: 'csr', csr: parseCsr(job.der) };
