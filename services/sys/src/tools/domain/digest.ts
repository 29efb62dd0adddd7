import { createHash } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';

export type Encoding = 'base64' | 'hex';

/** The algorithms by their names in the API. */
const ALGORITHMS: Readonly<Record<string, string>> = {
  'sha2-224': 'sha224',
  'sha2-256': 'sha256',
  'sha2-384': 'sha384',
  'sha2-512': 'sha512',
  'sha3-224': 'sha3-224',
  'sha3-256': 'sha3-256',
  'sha3-384': 'sha3-384',
  'sha3-512': 'sha3-512',
};

export const isAlgorithm = (name: string): boolean => Object.hasOwn(ALGORITHMS, name);

const decodeBase64 = (text: string): Buffer => {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0)
    throw new KeelsonError('request.invalid', { text: 'unable to decode input as base64' });
  return Buffer.from(text, 'base64');
};

/**
 * @param algorithm a name for which `isAlgorithm` holds
 * @param input in base64
 * @throws KeelsonError `request.invalid` when the input is not base64
 */
export const digestOf = (algorithm: string, input: string, encoding: Encoding): string =>
  createHash(ALGORITHMS[algorithm] ?? '')
    .update(decodeBase64(input))
    .digest(encoding);
