/**
 * How tokens read: a prefix that says the kind, random base62, and outside the root namespace the id of
 * the namespace after a dot. To clients everything after the prefix is opaque.
 */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export const SERVICE_PREFIX = 'hvs.';
export const BATCH_PREFIX = 'hvb.';
/** Characters after the prefix; with it the length a one-time password must have. */
export const RANDOM_LENGTH = 24;
/** Longer texts are no tokens of ours; they are refused before anything is computed from them. */
export const MAX_TOKEN_LENGTH = 16_384;

/** Enough bytes for `base62` to give `length` characters, but for a chance below 2^-60. */
export const base62EntropyBytes = (length: number): number => length * 2 + 64;

/**
 * `length` characters from random bytes, each equally likely: bytes above the largest multiple of 62 are
 * passed over.
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

/** Id of the namespace a token or accessor names. */
export const namespaceIdOf = (text: string): string => {
  const afterPrefix = /^(?:hv[sbr]|[sbr])\./.exec(text)?.[0].length ?? 0;
  const dot = text.indexOf('.', afterPrefix);
  return dot < 0 ? 'root' : text.slice(dot + 1);
};
