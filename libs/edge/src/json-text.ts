/**
 * JSON from a client, of a limited shape, so that a small body cannot cost a handler out of proportion.
 * Checked on its bytes before they are parsed: making an object of a million keys takes longer than
 * anything that could be refused afterwards.
 */
import { KeelsonError } from '@keelson/errors';
import type { JsonLimits } from './request-limits.ts';

const tooMuch = (what: string, limit: number): never => {
  throw new KeelsonError('request.malformed_json', {
    reason: `${what} exceeds the limit of ${limit}`,
  });
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const ARRAY = 0x5b;
const ARRAY_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

/** Where the string ends that begins at `start`, on its closing quote. */
const skipString = (bytes: Uint8Array, start: number, { stringLength }: JsonLimits): number => {
  let length = 0;
  let at = start + 1;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) break;
    if (byte === BACKSLASH) {
      at += bytes[at + 1] === LETTER_U ? 5 : 1;
      length += 1;
    } else if (byte >= 0xf0) length += 2;
    else if (byte < 0x80 || byte >= 0xc0) length += 1;
    if (length > stringLength) tooMuch('a string', stringLength);
  }
  return at;
};

const requireFewer = (kind: number, entries: number, limits: JsonLimits): void => {
  const { objectEntries, arrayElements } = limits;
  if (kind === OBJECT && entries > objectEntries) tooMuch('an object', objectEntries);
  if (kind === ARRAY && entries > arrayElements) tooMuch('an array', arrayElements);
};

/** Of what is no JSON, it only has to be said that it is none, which parsing does. */
const checkShape = (bytes: Uint8Array, limits: JsonLimits): void => {
  const { depth, documentEntries } = limits;
  /** Open containers, and the entries seen in each. */
  const kinds: number[] = [];
  const counts: number[] = [];
  let total = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = skipString(bytes, at, limits);
    else if (byte === COMMA) {
      total += 1;
      if (total > documentEntries) tooMuch('the document', documentEntries);
      const open = counts.length - 1;
      counts[open] = (counts[open] ?? 0) + 1;
      requireFewer(kinds[open] ?? 0, counts[open], limits);
    } else if (byte === ARRAY || byte === OBJECT) {
      if (kinds.length > depth) tooMuch('nesting', depth);
      kinds.push(byte);
      counts.push(1);
    } else if (byte === ARRAY_END || byte === OBJECT_END) {
      kinds.pop();
      counts.pop();
    }
  }
};

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** @throws KeelsonError `request.malformed_json` for what is no JSON in UTF-8, or exceeds a limit */
export const parseJson = (bytes: Uint8Array, limits: JsonLimits): unknown => {
  checkShape(bytes, limits);
  try {
    return JSON.parse(strictUtf8.decode(bytes)) as unknown;
  } catch {
    // The parser's own message quotes the text, which may hold a secret.
    throw new KeelsonError('request.malformed_json', { reason: 'it cannot be parsed' });
  }
};
