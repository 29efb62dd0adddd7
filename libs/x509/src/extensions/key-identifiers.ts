/** Subject and authority key identifiers (RFC 5280 §4.2.1.1, §4.2.1.2). */
import { hash } from 'node:crypto';
import { DerReader } from '../der/der-reader.ts';
import { contextTag, octetString, sequence, TAG } from '../der/der-types.ts';
import { primitive } from '../der/der-writer.ts';
import { EXTENSION, type Extension, extension, findExtension } from './extension.ts';

/** Octets of the subjectPublicKey BIT STRING, from which key identifiers are computed. */
export const publicKeyOctets = (publicKeyDer: Uint8Array): Uint8Array => {
  const spki = new DerReader(publicKeyDer).enter();
  spki.read(TAG.sequence);
  return spki.readBitString();
};

/** Method 1: SHA-1 over the octets of the public key. An identifier, not a signature. */
export const keyIdentifierOf = (publicKeyDer: Uint8Array): Uint8Array =>
  hash('sha1', publicKeyOctets(publicKeyDer), 'buffer');

/** RFC 5280 §4.2.1.2. */
export const subjectKeyIdentifier = (keyIdentifier: Uint8Array): Extension =>
  extension(EXTENSION.subjectKeyIdentifier, octetString(keyIdentifier));

/** RFC 5280 §4.2.1.1, with the issuer's key identifier only. */
export const authorityKeyIdentifier = (keyIdentifier: Uint8Array): Extension =>
  extension(
    EXTENSION.authorityKeyIdentifier,
    sequence(primitive(contextTag(0, 'primitive'), keyIdentifier)),
  );

/**
 * The identifier of an extension's value.
 * @throws KeelsonError `pki.malformed`
 */
export const parseSubjectKeyIdentifier = (value: Uint8Array): Uint8Array =>
  new DerReader(value).read(TAG.octetString).content;

/**
 * Whether the AuthorityKeyIdentifier among these extensions names the key (RFC 5280 §4.2.1.1). An identifier
 * by issuer and serial number names none.
 * @throws KeelsonError `pki.malformed`
 */
export const namesAuthorityKey = (
  extensions: readonly Extension[],
  keyIdentifier: Uint8Array,
): boolean => {
  const found = findExtension(extensions, EXTENSION.authorityKeyIdentifier);
  if (found === undefined) return false;
  const members = new DerReader(found.value).enter();
  if (members.atEnd) return false;
  const { tag, content } = members.read();
  return tag === contextTag(0, 'primitive') && Buffer.from(content).equals(keyIdentifier);
};
