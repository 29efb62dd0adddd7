import { KeelsonError } from '@keelson/errors';
import { type KeyAlgorithm, keyBits } from '@keelson/x509';

const MINIMUM_BITS = { rsa: 2048, ec: 224, ed25519: 0 } as const;

/** @throws KeelsonError `request.invalid` for a key that is too short for any certificate */
export const checkKeySize = (key: KeyAlgorithm): void => {
  const minimum = MINIMUM_BITS[key.type];
  if (keyBits(key) < minimum)
    throw new KeelsonError('request.invalid', {
      text: `${key.type.toUpperCase()} keys < ${minimum} bits are unsafe and not supported`,
    });
};
