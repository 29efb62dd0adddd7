import { expect, test } from 'vitest';
import { KEYRING_FORMAT, KEYRING_PATH, newKeyring, unwrapKeyring, wrapKeyring } from './keyring.ts';
import { openValue, sealValue } from './record-cipher.ts';

const ROOT_KEY = new Uint8Array(32).fill(1);

/** A keyring whose bytes were changed under the same root key. */
const changed = (change: (bytes: Uint8Array) => Uint8Array): Uint8Array => {
  const bytes = openValue(ROOT_KEY, KEYRING_PATH, wrapKeyring(newKeyring(0), ROOT_KEY));
  if (bytes === undefined) throw new Error('not wrapped');
  return sealValue(ROOT_KEY, 0, KEYRING_PATH, change(bytes));
};

test.for([0, 2])('a keyring of format %i is refused by it', (format) => {
  const wrapped = changed((bytes) => Uint8Array.of(format, ...bytes.subarray(1)));
  expect(() => unwrapKeyring(wrapped, ROOT_KEY)).toThrow(
    `the keyring has format ${format}, this version of Keelson reads format ${KEYRING_FORMAT}`,
  );
});

test('a keyring that ends early is refused as incomplete', () => {
  for (const end of [0, 1, 20])
    expect(() =>
      unwrapKeyring(
        changed((bytes) => bytes.subarray(0, end)),
        ROOT_KEY,
      ),
    ).toThrow('the keyring is incomplete');
});
