import { describeKey, type KeyAlgorithm, parsePublicKey } from '@keelson/x509';

/** Bits of the public key in a certificate or request, with its type. */
export const describePublicKey = (publicKeyDer: Uint8Array): KeyAlgorithm =>
  describeKey(parsePublicKey(publicKeyDer));
