/** Object identifiers: dotted text and DER content octets (X.690 §8.19). */
import { KeelsonError } from '@keelson/errors';
import { LRUCache } from 'lru-cache';
import { TAG } from './der-types.ts';
import { encodeDer, primitive } from './der-writer.ts';

const DOTTED = /^[0-2](?:\.(?:0|[1-9]\d*))+$/;
const MAX_DOTTED_LENGTH = 256;

/** True for dotted text that an OBJECT IDENTIFIER can hold. */
export const isObjectIdentifier = (dotted: string): boolean => {
  if (dotted.length > MAX_DOTTED_LENGTH || !DOTTED.test(dotted)) return false;
  const [first, second] = dotted.split('.').map(BigInt) as [bigint, bigint];
  return first === 2n || second < 40n;
};

const base128 = (arc: bigint): number[] => {
  const octets = [Number(arc & 0x7fn)];
  for (let rest = arc >> 7n; rest > 0n; rest >>= 7n) octets.unshift(Number(rest & 0x7fn) | 0x80);
  return octets;
};

const encode = (dotted: string): Uint8Array => {
  if (!isObjectIdentifier(dotted))
    throw new KeelsonError('request.invalid', {
      text: `"${dotted.slice(0, MAX_DOTTED_LENGTH)}" is not an object identifier`,
    });
  const [first, second, ...rest] = dotted.split('.').map(BigInt) as [bigint, bigint, ...bigint[]];
  const content = [first * 40n + second, ...rest].flatMap(base128);
  return encodeDer(primitive(TAG.objectIdentifier, Uint8Array.from(content)));
};

// Bounded. The few identifiers of this library are used so often that callers' identifiers cannot
// displace them.
const encoded = new LRUCache<string, Uint8Array>({ max: 512 });

/** OBJECT IDENTIFIER element. */
export const objectIdentifier = (dotted: string): Uint8Array => {
  const known = encoded.get(dotted);
  if (known !== undefined) return known;
  const bytes = encode(dotted);
  encoded.set(dotted, bytes);
  return bytes;
};

/** Dotted text from content octets. */
export const parseObjectIdentifierContent = (content: Uint8Array): string => {
  const malformed = (): KeelsonError =>
    new KeelsonError('pki.malformed', { text: 'malformed object identifier' });
  if (content.byteLength === 0 || content.byteLength > 64) throw malformed();
  const arcs: bigint[] = [];
  let arc = 0n;
  let atStart = true;
  for (const octet of content) {
    if (atStart && octet === 0x80) throw malformed();
    arc = (arc << 7n) | BigInt(octet & 0x7f);
    atStart = (octet & 0x80) === 0;
    if (atStart) {
      arcs.push(arc);
      arc = 0n;
    }
  }
  if (!atStart) throw malformed();
  const [head, ...rest] = arcs as [bigint, ...bigint[]];
  const first = head < 40n ? 0n : head < 80n ? 1n : 2n;
  return [first, head - first * 40n, ...rest].join('.');
};
