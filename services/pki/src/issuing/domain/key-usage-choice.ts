/** The key usages of a leaf: the requested ones, or those that suit its key. */
import { EXTENDED_KEY_USAGE, type KeyAlgorithm, type KeyUsage, publicKeyType } from '@keelson/x509';

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
 * Usages of a key that are consistent with an extended usage (RFC 5280 §4.2.1.12, RFC 6960 §4.2.2.2);
 * all of the default for those that are not listed.
 */
const CONSISTENT: ReadonlyMap<string, readonly KeyUsage[]> = new Map([
  [EXTENDED_KEY_USAGE.ClientAuth, ['DigitalSignature', 'KeyAgreement']],
  [EXTENDED_KEY_USAGE.CodeSigning, ['DigitalSignature']],
  [EXTENDED_KEY_USAGE.TimeStamping, ['DigitalSignature']],
  [EXTENDED_KEY_USAGE.OCSPSigning, ['DigitalSignature']],
]);

/**
 * @param asked as given, also against these RFCs; undefined means the default
 * @param publicKeyDer SubjectPublicKeyInfo
 * @param extendedUsages of the same certificate; the default is consistent with one of them
 */
export const chooseKeyUsages = (
  asked: readonly KeyUsage[] | undefined,
  publicKeyDer: Uint8Array,
  extendedUsages: readonly string[],
): readonly KeyUsage[] => {
  if (asked !== undefined) return asked;
  const usual = DEFAULTS[publicKeyType(publicKeyDer)];
  if (extendedUsages.length === 0) return usual;
  const consistent = extendedUsages.flatMap((oid) => CONSISTENT.get(oid) ?? usual);
  return usual.filter((usage) => consistent.includes(usage));
};
