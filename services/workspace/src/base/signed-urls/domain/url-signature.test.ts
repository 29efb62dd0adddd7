import { describe, expect, test } from 'vitest';
import { isSignatureOf, type SignedAddress, signAddress } from './url-signature.ts';

const KEY = Buffer.alloc(32, 7);
const ADDRESS: SignedAddress = {
  method: 'GET',
  path: '/downloads/state-versions/sv-1/state',
  expiresAtEpochSeconds: 100,
};

describe('a signature', () => {
  const signature = signAddress(KEY, ADDRESS);

  test('is valid for its URL until it expires', () => {
    expect(isSignatureOf(KEY, ADDRESS, signature, 99_999)).toBe(true);
    expect(isSignatureOf(KEY, ADDRESS, signature, 100_000)).toBe(false);
  });

  test.for<Partial<SignedAddress>>([
    { method: 'PUT' },
    { path: '/downloads/state-versions/sv-2/state' },
    { expiresAtEpochSeconds: 101 },
  ])('is not valid for another URL: %j', (other) => {
    expect(isSignatureOf(KEY, { ...ADDRESS, ...other }, signature, 0)).toBe(false);
  });

  test('is not valid under another key or when truncated', () => {
    expect(isSignatureOf(Buffer.alloc(32, 8), ADDRESS, signature, 0)).toBe(false);
    expect(isSignatureOf(KEY, ADDRESS, signature.slice(0, -1), 0)).toBe(false);
    expect(isSignatureOf(KEY, ADDRESS, '', 0)).toBe(false);
  });
});
