/** The CSR attributes that an EST server asks for (RFC 7030 §4.5.2): here only the key type. */
import { integer, sequence, setOf } from './der/der-types.ts';
import { type Der, encodeDer } from './der/der-writer.ts';
import { objectIdentifier } from './der/object-identifier.ts';
import { curveOfBits, EC_PUBLIC_KEY, type KeyAlgorithm } from './keys/key-algorithm.ts';

const RSA_ENCRYPTION = '1.2.840.113549.1.1.1';
const ED25519 = '1.3.101.112';

const keyAttribute = (key: KeyAlgorithm): Der => {
  switch (key.type) {
    case 'rsa':
      return sequence(objectIdentifier(RSA_ENCRYPTION), setOf([integer(key.bits)]));
    case 'ec':
      return sequence(
        objectIdentifier(EC_PUBLIC_KEY),
        setOf([objectIdentifier(curveOfBits(key.bits).oid)]),
      );
    case 'ed25519':
      return objectIdentifier(ED25519);
  }
};

/** CsrAttrs that request a key of this type and size, DER. */
export const encodeCsrAttributes = (key: KeyAlgorithm): Uint8Array =>
  encodeDer(sequence(keyAttribute(key)));
