/**
 * Limits on the shape of a JSON document, so that a small body cannot cost a handler out of proportion.
 * Checked on its bytes before they are parsed: making an object of a million keys takes longer than
 * anything that could be refused afterwards.
 */
import { KeelsonError } from '@keelson/errors';

const JSON_LIMITS = {
  /** Of containers below the outermost one. */
  depth: 300,
  /** UTF-16 code units. */
  stringLength: 1 << 20,
  objectEntries: 10_000,
  arrayElements: 10_000,
  /** Of all objects and arrays of a document together. */
  documentEntries: 100_000,
} as const;

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
const skipString = (bytes: Uint8Array, start: number): number => {
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
    if (length > JSON_LIMITS.stringLength) tooMuch('a string', JSON_LIMITS.stringLength);
  }
  return at;
};

const requireFewer = (kind: number, entries: number): void => {
  if (kind === OBJECT && entries > JSON_LIMITS.objectEntries)
    tooMuch('an object', JSON_LIMITS.objectEntries);
  if (kind === ARRAY && entries > JSON_LIMITS.arrayElements)
    tooMuch('an array', JSON_LIMITS.arrayElements);
};

/**
 * Of what is no JSON, it only has to be said that it is none, which parsing does.
 * @throws KeelsonError `request.malformed_json`
 */
export const checkJsonLimits = (bytes: Uint8Array): void => {
  /** Open containers, and the entries seen in each. */
  const kinds: number[] = [];
  const counts: number[] = [];
  let total = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = skipString(bytes, at);
    else if (byte === COMMA) {
      total += 1;
      if (total > JSON_LIMITS.documentEntries) tooMuch('the document', JSON_LIMITS.documentEntries);
      const open = counts.length - 1;
      counts[open] = (counts[open] ?? 0) + 1;
      requireFewer(kinds[open] ?? 0, counts[open]);
    } else if (byte === ARRAY || byte === OBJECT) {
      if (kinds.length > JSON_LIMITS.depth) tooMuch('nesting', JSON_LIMITS.depth);
      kinds.push(byte);
      counts.push(1);
    } else if (byte === ARRAY_END || byte === OBJECT_END) {
      kinds.pop();
      counts.pop();
    }
  }
};
