import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { fixedKeysOf } from './fixed-keys.ts';

const newPem = (): string => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
};

test('keys in PEM are parsed once for each list of them', () => {
  const list = [newPem(), newPem()];
  expect(fixedKeysOf(list)).toHaveLength(2);
  expect(fixedKeysOf(list)).toBe(fixedKeysOf(list));
  const [key] = fixedKeysOf([newPem()]);
  expect(fixedKeysOf(list).some((one) => key?.key.equals(one.key))).toBe(false);
});
