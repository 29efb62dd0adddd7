import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { isWrappingJwt, keyPairOf, openWrappingJwt, signWrappingJwt } from './wrapping-jwt.ts';
import type { WrappingKey } from './wrapping-records.ts';

const newKey = (): WrappingKey => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' });
  return { privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
};
const key = newKey();
const ISSUED_AT_MS = Date.UTC(2030, 0, 1);
const jwt = signWrappingJwt(key, {
  token: 'hvs.wrapping',
  accessor: 'accessor',
  issuedAtMs: ISSUED_AT_MS,
  ttlSeconds: 60,
  apiAddress: 'https://keelson.example',
});
const openAfter = (seconds: number, text = jwt, opening = key): string | undefined =>
  openWrappingJwt(opening, text, ISSUED_AT_MS + seconds * 1000);

test('a JWT returns its token until it expires', () => {
  expect(isWrappingJwt(jwt)).toBe(true);
  expect([-6, -5, 0, 59, 60].map((seconds) => openAfter(seconds))).toEqual([
    undefined,
    'hvs.wrapping',
    'hvs.wrapping',
    'hvs.wrapping',
    undefined,
  ]);
});

test('nothing is read from a JWT that another key signed, or that was changed', () => {
  expect(openAfter(0, jwt, newKey())).toBeUndefined();
  const [header = '', claims = '', signature = ''] = jwt.split('.');
  const changed = Buffer.from(claims, 'base64url').toString().replace('hvs.wrapping', 'hvs.other');
  const forged = [header, Buffer.from(changed).toString('base64url'), signature].join('.');
  expect(openAfter(0, forged)).toBeUndefined();
});

test('a JWT with another header is no wrapping token', () => {
  const [, ...rest] = jwt.split('.');
  for (const header of [
    { alg: 'ES256', typ: 'JWT' },
    { alg: 'none', typ: 'JWT' },
  ]) {
    const part = Buffer.from(JSON.stringify(header)).toString('base64url');
    expect(isWrappingJwt([part, ...rest].join('.'))).toBe(false);
  }
});

test('keys are created once for a record, and again for the record that replaces it', () => {
  expect(keyPairOf(key)).toBe(keyPairOf(key));
  const replaced = newKey();
  expect(keyPairOf(replaced)).not.toBe(keyPairOf(key));
  expect(openAfter(0, jwt, { ...key })).toBe('hvs.wrapping');
});
