/** Distinguished names (RFC 5280 §4.1.2.4): written from attributes, read back into them. */
import { KeelsonError } from '@keelson/errors';
import { DerReader } from '../der/der-reader.ts';
import { ia5String, printableString, sequence, setOf, TAG, utf8String } from '../der/der-types.ts';
import { type DerNode, encodeDer } from '../der/der-writer.ts';
import { objectIdentifier } from '../der/object-identifier.ts';

/** Attribute types (X.520, RFC 4519). */
export const ATTRIBUTE = {
  commonName: '2.5.4.3',
  serialNumber: '2.5.4.5',
  country: '2.5.4.6',
  locality: '2.5.4.7',
  province: '2.5.4.8',
  streetAddress: '2.5.4.9',
  organization: '2.5.4.10',
  organizationalUnit: '2.5.4.11',
  postalCode: '2.5.4.17',
  userId: '0.9.2342.19200300.100.1.1',
  emailAddress: '1.2.840.113549.1.9.1',
} as const;

export interface NameAttribute {
  /** Dotted object identifier. */
  readonly type: string;
  readonly value: string;
}

/** Relative distinguished names, each a set of attributes. */
export type DistinguishedName = readonly (readonly NameAttribute[])[];

/** A requested subject. Values of one list share one RDN; each user id has its own. */
export interface SubjectAttributes {
  readonly country?: readonly string[];
  readonly organization?: readonly string[];
  readonly organizationalUnit?: readonly string[];
  readonly locality?: readonly string[];
  readonly province?: readonly string[];
  readonly streetAddress?: readonly string[];
  readonly postalCode?: readonly string[];
  readonly commonName?: string;
  readonly serialNumber?: string;
  readonly userIds?: readonly string[];
}

const rdn = (type: string, values: readonly string[] = []): readonly NameAttribute[] =>
  [...new Set(values)].filter((value) => value !== '').map((value) => ({ type, value }));

/**
 * RDNs in the order of compatible servers: C, O, OU, L, ST, street, postal code, CN, serial, UID.
 */
export const toDistinguishedName = (subject: SubjectAttributes): DistinguishedName =>
  [
    rdn(ATTRIBUTE.country, subject.country),
    rdn(ATTRIBUTE.organization, subject.organization),
    rdn(ATTRIBUTE.organizationalUnit, subject.organizationalUnit),
    rdn(ATTRIBUTE.locality, subject.locality),
    rdn(ATTRIBUTE.province, subject.province),
    rdn(ATTRIBUTE.streetAddress, subject.streetAddress),
    rdn(ATTRIBUTE.postalCode, subject.postalCode),
    rdn(ATTRIBUTE.commonName, [subject.commonName ?? '']),
    rdn(ATTRIBUTE.serialNumber, [subject.serialNumber ?? '']),
    // One RDN for each, as compatible servers do (X.501 §9.3 allows one value of a type in an RDN).
    ...rdn(ATTRIBUTE.userId, subject.userIds).map((userId) => [userId]),
  ].filter((attributes) => attributes.length > 0);

const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?]*$/;

const attributeValue = ({ type, value }: NameAttribute): DerNode => {
  if (type === ATTRIBUTE.emailAddress) return ia5String(value);
  return PRINTABLE.test(value) ? printableString(value) : utf8String(value);
};

/** DER of a Name. */
export const encodeName = (name: DistinguishedName): Uint8Array =>
  encodeDer(
    sequence(
      ...name.map((attributes) =>
        setOf(
          attributes.map((attribute) =>
            sequence(objectIdentifier(attribute.type), attributeValue(attribute)),
          ),
        ),
      ),
    ),
  );

const MAX_RDN_COUNT = 64;
const BMP_STRING = 0x1e;
const UNIVERSAL_STRING = 0x1c;
const TELETEX_STRING = 0x14;

const decodeText = (tag: number, content: Uint8Array): string => {
  switch (tag) {
    case TAG.utf8String:
      return new TextDecoder('utf-8', { fatal: false }).decode(content);
    case TAG.printableString:
    case TAG.ia5String:
    case TELETEX_STRING:
      return Buffer.from(content).toString('latin1');
    case BMP_STRING:
      return new TextDecoder('utf-16be').decode(content);
    case UNIVERSAL_STRING:
      return Array.from({ length: content.byteLength >> 2 }, (_, i) =>
        String.fromCodePoint(
          Math.min(Buffer.from(content.subarray(i * 4, i * 4 + 4)).readUInt32BE(0), 0x10ffff),
        ),
      ).join('');
    default:
      // Any other type is shown as RFC 4514 §2.4 does.
      return `#${Buffer.from(content).toString('hex')}`;
  }
};

/**
 * The attributes of a Name.
 * @throws KeelsonError `pki.malformed`
 */
export const parseName = (der: Uint8Array): DistinguishedName => {
  const outer = new DerReader(der);
  const rdns = outer.enter();
  outer.expectEnd();
  const name: NameAttribute[][] = [];
  while (!rdns.atEnd) {
    if (name.length >= MAX_RDN_COUNT)
      throw new KeelsonError('pki.malformed', { text: 'the name has too many parts' });
    const set = rdns.enter(TAG.set);
    const attributes: NameAttribute[] = [];
    while (!set.atEnd) {
      const pair = set.enter();
      const type = pair.readObjectIdentifier();
      const { tag, content } = pair.read();
      pair.expectEnd();
      attributes.push({ type, value: decodeText(tag, content) });
    }
    name.push(attributes);
  }
  return name;
};

/** Values of an attribute in the order of the name. */
export const attributeValues = (name: DistinguishedName, type: string): readonly string[] =>
  name
    .flat()
    .filter((attribute) => attribute.type === type)
    .map(({ value }) => value);
