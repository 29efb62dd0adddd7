/** What clients sign, checked: requests with keys of accounts, CSRs with their own. */
import type { KeyObject } from 'node:crypto';
import { type ParsedCsr, parseCsr, parsePublicKey } from '@keelson/x509';
import { isSigned, type SignedText } from '../domain/jws.ts';

/** Plain data, text as far as it can be: a view of octets takes the whole of its buffer along. */
export type SignatureJob =
  | {
      readonly kind: 'jws';
      readonly signed: SignedText;
      /** SubjectPublicKeyInfo, a character an octet. */
      readonly publicKey: string;
    }
  | { readonly kind: 'csr'; readonly der: Uint8Array };

export type CheckedSignature =
  | { readonly kind: 'jws'; readonly isValid: boolean }
  | { readonly kind: 'csr'; readonly csr: ParsedCsr };

const MAX_KEPT_KEYS = 1000;

/** Making a key of its octets costs a third of a verification. The oldest first. */
const keys = new Map<string, KeyObject>();

const keyOf = (publicKey: string): KeyObject => {
  const known = keys.get(publicKey);
  if (known !== undefined) return known;
  const key = parsePublicKey(Buffer.from(publicKey, 'latin1'));
  keys.set(publicKey, key);
  for (const oldest of keys.keys()) {
    if (keys.size <= MAX_KEPT_KEYS) break;
    keys.delete(oldest);
  }
  return key;
};

/** @throws KeelsonError as `parseCsr` does */
export const checkSignature = (job: SignatureJob): CheckedSignature =>
  job.kind === 'jws'
    ? { kind: 'jws', isValid: isSigned(job.signed, keyOf(job.publicKey)) }
    : { kind: 'csr', csr: parseCsr(job.der) };
