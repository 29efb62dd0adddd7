/**
 * The text form of tokens: a prefix for the type, random base62 and, outside the root namespace, a dot and
 * the id of the namespace. For clients, everything after the prefix is opaque.
 */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export const SERVICE_PREFIX = 'hvs.';
export const BATCH_PREFIX = 'hvb.';
/** Number of characters after the prefix; it also determines the length of a one-time password. */
export const RANDOM_LENGTH = 24;
/** Longer texts cannot be tokens; they are refused before any computation. */
export const MAX_TOKEN_LENGTH = 16_384;

/** Enough bytes for `base62` to yield `length` characters, except with a probability below 2^-60. */
export const base62EntropyBytes = (length: number): number => length * 2 + 64;

/**
 * `length` characters from random bytes, each equally likely: bytes from the largest multiple of 62 on are
 * skipped.
 */
export const base62 = (entropy: Uint8Array, length: number): string => {
  let text = '';
  for (const byte of entropy) {
    if (text.length === length) break;
    if (byte < 248) text += BASE62[byte % 62];
  }
  if (text.length < length) throw new RangeError('not enough entropy');
  return text;
};

const withNamespace = (text: string, namespaceId: string): string =>
  namespaceId === 'root' ? text : `${text}.${namespaceId}`;

export const toServiceToken = (random: string, namespaceId: string): string =>
  withNamespace(`${SERVICE_PREFIX}${random}`, namespaceId);

export const toAccessor = (random: string, namespaceId: string): string =>
  withNamespace(random, namespaceId);

export const isBatchToken = (token: string): boolean =>
  token.startsWith(BATCH_PREFIX) || token.startsWith('b.');

/** Id of the namespace in a token or accessor. */
export const namespaceIdOf = (text: string): string => {
  const afterPrefix = /^(?:hv[sbr]|[sbr])\./.exec(text)?.[0].length ?? 0;
  const dot = text.indexOf('.', afterPrefix);
  return dot < 0 ? 'root' : text.slice(dot + 1);
};
