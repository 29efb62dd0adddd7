/** X.509 as bytes in, bytes out: certificates, requests, revocation lists, keys and names. */
export {
  type CertificateFields,
  createCertificate,
  encodeTbsCertificate,
  isSignedBy,
  type ParsedCertificate,
  parseCertificate,
  readNotAfter,
} from './certificate.ts';
export { encodeCertsOnly } from './certs-only.ts';
export {
  type CrlEntries,
  type CrlEntry,
  type CrlFields,
  createCrl,
  crlNumber,
  deltaCrlIndicator,
  isCrlSignedBy,
  type ParsedCrl,
  parseCrl,
} from './crl.ts';
export { type CsrFields, createCsr, type ParsedCsr, parseCsr } from './csr.ts';
export { encodeCsrAttributes } from './csr-attributes.ts';
export { DerReader } from './der/der-reader.ts';
export { isObjectIdentifier } from './der/object-identifier.ts';
export { type CertificatePolicy, certificatePolicies } from './extensions/certificate-policies.ts';
export { EXTENSION, type Extension, findExtension } from './extensions/extension.ts';
export {
  authorityKeyIdentifier,
  keyIdentifierOf,
  namesAuthorityKey,
  parseSubjectKeyIdentifier,
  publicKeyOctets,
  subjectKeyIdentifier,
} from './extensions/key-identifiers.ts';
export {
  authorityInformationAccess,
  crlDistributionPoints,
  freshestCrl,
  parseOcspUrls,
} from './extensions/locations.ts';
export {
  type ConstrainedName,
  constrainedNames,
  findConstraintViolation,
  type ParsedNameConstraints,
  parseNameConstraints,
} from './extensions/name-constraint-check.ts';
export { type NameSubtrees, nameConstraints } from './extensions/name-constraints.ts';
export { subjectAltName } from './extensions/subject-alt-name.ts';
export {
  type BasicConstraints,
  basicConstraints,
  EXTENDED_KEY_USAGE,
  extendedKeyUsage,
  KEY_USAGES,
  type KeyUsage,
  keyUsage,
  parseBasicConstraints,
  parseExtendedKeyUsage,
  parseKeyUsage,
} from './extensions/usages.ts';
export {
  checkStorePassword,
  encodeKeyStore,
  type KeyStore,
  type KeyStoreAlgorithms,
} from './key-store.ts';
export { ecdsaSignatureToDer } from './keys/ecdsa-signature.ts';
export {
  describeKey,
  KEY_SIZES,
  type KeyAlgorithm,
  keyBits,
  publicKeyType,
  toKeyAlgorithm,
} from './keys/key-algorithm.ts';
export {
  createKeyPair,
  type KeyPair,
  type TraditionalKey,
  toTraditionalKey,
} from './keys/key-pair.ts';
export { isSamePublicKey, parsePrivateKey } from './keys/private-key.ts';
export {
  chooseSignatureScheme,
  createSigner,
  keyTypeOfScheme,
  parsePublicKey,
  type SchemeChoice,
  SIGNATURE_SCHEMES,
  type SignatureScheme,
  type Signer,
  schemeOfIdentifier,
  verifySignature,
} from './keys/signature-scheme.ts';
export {
  ATTRIBUTE,
  attributeValues,
  type DistinguishedName,
  encodeName,
  type NameAttribute,
  parseName,
  type SubjectAttributes,
  toDistinguishedName,
} from './names/distinguished-name.ts';
export { type GeneralName, parseGeneralNames } from './names/general-name.ts';
export { formatIpAddress, parseIpAddress, parseIpRange } from './names/ip-address.ts';
export {
  isOcspAnswerOf,
  type OcspAnswer,
  type OcspStatement,
  parseOcspResponse,
} from './ocsp/ocsp-answer.ts';
export {
  type CertId,
  type CertIdHash,
  createCertId,
  encodeOcspRequest,
  nonceExtension,
  type OcspRequest,
  parseOcspRequest,
} from './ocsp/ocsp-request.ts';
export {
  type CertificateStatus,
  createOcspResponse,
  type OcspAnswers,
  type OcspFailure,
  ocspFailure,
} from './ocsp/ocsp-response.ts';
export { decodePem, encodePem, type PemBlock, readPemBlocks } from './pem.ts';
export {
  findReason,
  isRevocationReason,
  REVOCATION_REASON,
  type RevocationReason,
  reasonName,
} from './revocation-reason.ts';
export { createRootCertificate } from './root-certificate.ts';
export {
  parseSerialText,
  randomSerialNumber,
  toSerialHex,
  toSerialKey,
} from './serial-number.ts';
export { findTrustedPath, type TrustedPathOptions } from './trusted-path.ts';
