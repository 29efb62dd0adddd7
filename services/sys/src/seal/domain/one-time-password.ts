/** Tokens made by a ceremony, combined by XOR with a one-time password of the same length. */
import { KeelsonError } from '@keelson/errors';

const xor = (a: Uint8Array, b: Uint8Array): Uint8Array =>
  a.map((byte, index) => byte ^ (b[index] ?? 0));

/** Standard base64 without padding. */
export const encodeToken = (token: string, password: string): string => {
  const mixed = xor(new TextEncoder().encode(token), new TextEncoder().encode(password));
  return Buffer.from(mixed)
    .toString('base64')
    .replace(/={1,2}$/, '');
};

/** @throws KeelsonError `request.invalid` */
export const decodeToken = (encoded: string, password: string): string => {
  const refuse = (text: string): never => {
    throw new KeelsonError('request.invalid', { text });
  };
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) refuse('error decoding base64 value');
  const mixed = Uint8Array.from(Buffer.from(encoded, 'base64'));
  const key = new TextEncoder().encode(password);
  if (mixed.length !== key.length) refuse('length of encoded token and OTP do not match');
  return new TextDecoder().decode(xor(mixed, key));
};
