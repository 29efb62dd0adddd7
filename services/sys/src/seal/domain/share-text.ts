/** Key shares as clients send them: parsed as hex first, then as base64. */
import { KeelsonError } from '@keelson/errors';

/** Accepted sizes; the maximum is a share of a 32-byte key, which has one more byte for x. */
const MIN_SHARE_BYTES = 16;
const MAX_SHARE_BYTES = 33;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const isHex = (text: string): boolean =>
  /^(?:[0-9a-fA-F]{2})+$/.test(text) &&
  text.length / 2 >= MIN_SHARE_BYTES &&
  text.length / 2 <= MAX_SHARE_BYTES;

/** @throws KeelsonError `request.invalid` */
export const parseShare = (text: string): Uint8Array => {
  if (isHex(text)) return Uint8Array.from(Buffer.from(text, 'hex'));
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) {
    return refuse("'key' must be a valid hex or base64 string");
  }
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'));
  if (bytes.length < MIN_SHARE_BYTES) {
    refuse(`key is shorter than minimum ${MIN_SHARE_BYTES} bytes`);
  }
  if (bytes.length > MAX_SHARE_BYTES) {
    refuse(`key is longer than maximum ${MAX_SHARE_BYTES} bytes`);
  }
  return bytes;
};
