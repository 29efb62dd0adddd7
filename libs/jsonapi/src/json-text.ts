import { KeelsonError } from '@keelson/errors';

const MAX_DEPTH = 32;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The deepest nesting of arrays and objects, found before anything is built from them. */
const nestingDepth = (bytes: Uint8Array): number => {
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (isInString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) {
      isInString = true;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    }
  }
  return deepest;
};

/**
 * JSON from a client.
 * @throws KeelsonError `request.malformed_json` when it is not JSON in UTF-8 or nested over 32 levels
 */
export const parseJsonText = (bytes: Uint8Array): unknown => {
  if (nestingDepth(bytes) > MAX_DEPTH) {
    throw new KeelsonError('request.malformed_json', {
      reason: `nested deeper than ${MAX_DEPTH} levels`,
    });
  }
  try {
    return JSON.parse(UTF8.decode(bytes)) as unknown;
  } catch (cause) {
    // The parser's own message quotes the input, which may hold a secret.
    throw new KeelsonError('request.malformed_json', { reason: 'syntax error' }, { cause });
  }
};
