/** The key usages of a leaf: the requested ones, or those that suit its key. */
import { type KeyAlgorithm, type KeyUsage, publicKeyType } from '@keelson/x509';

/**
 * The documented default (DigitalSignature, KeyAgreement, KeyEncipherment) without usages that the type of
 * key does not allow: RFC 3279 §2.3.1 for RSA, RFC 8813 §3 for EC, RFC 8410 §5 for Ed25519.
 */
const DEFAULTS: Readonly<Record<KeyAlgorithm['type'], readonly KeyUsage[]>> = {
  rsa: ['DigitalSignature', 'KeyEncipherment'],
  ec: ['DigitalSignature', 'KeyAgreement'],
  ed25519: ['DigitalSignature'],
};

/**
 * @param asked as given, also against these RFCs; undefined: the default
 * @param publicKeyDer SubjectPublicKeyInfo
 */
export const chooseKeyUsages = (
  asked: readonly KeyUsage[] | undefined,
  publicKeyDer: Uint8Array,
): readonly KeyUsage[] => asked ?? DEFAULTS[publicKeyType(publicKeyDer)];
