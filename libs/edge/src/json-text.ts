/**
 * Parses JSON from clients within limits of its shape, so that a small body cannot cause disproportionate
 * work. The bytes are checked before parsing, because building an object with a million keys takes longer
 * than a later check could save.
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

/** Index of the closing quote of the string that starts at `start`. */
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

/** Text that is not JSON passes: the parser refuses it. */
const checkShape = (bytes: Uint8Array, limits: JsonLimits): void => {
  const { depth, documentEntries } = limits;
  /** Open containers, and the number of entries so far in each. */
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

const BLANK = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
// JSON allows the control characters from U+007F on.
const CHARACTERS = /(?:[^"\\\p{Cc}]|[\u007f-\u009f])+/uy;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** Index of the first syntax error, in UTF-16 code units; the length of the text if it ends too early. */
const findFault = (text: string): number => {
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const takeMark = (mark: string): boolean => {
    take(BLANK);
    if (!text.startsWith(mark, at)) return false;
    at += mark.length;
    return true;
  };
  const takeString = (): boolean => {
    if (!takeMark('"')) return false;
    while (take(CHARACTERS) || take(ESCAPE));
    if (text[at] !== '"') return false;
    at += 1;
    return true;
  };
  const takeEntries = (end: string, takeEntry: () => boolean): boolean => {
    if (takeMark(end)) return true;
    do if (!takeEntry()) return false;
    while (takeMark(','));
    return takeMark(end);
  };
  const takeValue = (): boolean => {
    if (takeMark('{')) {
      return takeEntries('}', () => takeString() && takeMark(':') && takeValue());
    }
    return takeMark('[') ? takeEntries(']', takeValue) : takeString() || take(SCALAR);
  };
  if (takeValue()) take(BLANK);
  return at;
};

/**
 * Line and column of the error. The parser's own message is not used, because it quotes the text, which may
 * contain a secret.
 */
const describeFault = (text: string): string => {
  const before = text.slice(0, findFault(text));
  const lines = before.split('\n');
  const place = `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
  return before.length === text.length
    ? `it ends too early, at ${place}`
    : `it cannot be parsed from ${place} on`;
};

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** @throws KeelsonError `request.malformed_json` for bytes that are not JSON in UTF-8 or exceed a limit */
export const parseJson = (bytes: Uint8Array, limits: JsonLimits): unknown => {
  if (bytes.byteLength === 0) {
    throw new KeelsonError('request.malformed_json', { reason: 'it is empty' });
  }
  checkShape(bytes, limits);
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    throw new KeelsonError('request.malformed_json', { reason: 'it is not UTF-8' });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new KeelsonError('request.malformed_json', { reason: describeFault(text) });
  }
};
