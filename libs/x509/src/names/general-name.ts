/** GeneralName (RFC 5280 §4.2.1.6). */
import { KeelsonError } from '@keelson/errors';
import { DerReader } from '../der/der-reader.ts';
import { contextTag, explicit, TAG, utf8String } from '../der/der-types.ts';
import { constructed, type Der, primitive } from '../der/der-writer.ts';
import { objectIdentifier, parseObjectIdentifierContent } from '../der/object-identifier.ts';
import { formatIpAddress, parseIpAddress } from './ip-address.ts';

export type GeneralName =
  | { readonly kind: 'dns' | 'email' | 'uri'; readonly value: string }
  /** `value` is the address as text. */
  | { readonly kind: 'ip'; readonly value: string }
  /** otherName whose value is a UTF8String. */
  | { readonly kind: 'other'; readonly oid: string; readonly value: string }
  | { readonly kind: 'registeredId'; readonly oid: string }
  /** DER of a Name. */
  | { readonly kind: 'directory'; readonly name: Uint8Array }
  /** A name form that is preserved but not interpreted: the complete element. */
  | { readonly kind: 'raw'; readonly element: Uint8Array };

const refused = (text: string): KeelsonError => new KeelsonError('request.invalid', { text });

const ascii = (number: number, value: string): Der => {
  if (!/^[\x20-\x7e]*$/.test(value)) throw refused(`name "${value}" is not ASCII`);
  return primitive(contextTag(number, 'primitive'), Buffer.from(value, 'latin1'));
};

const ipOctets = (value: string): Uint8Array => {
  const octets = parseIpAddress(value);
  if (octets === undefined) throw refused(`the value "${value}" is not a valid IP address`);
  return octets;
};

export const generalName = (name: GeneralName): Der => {
  switch (name.kind) {
    case 'other':
      return constructed(contextTag(0, 'constructed'), [
        objectIdentifier(name.oid),
        explicit(0, utf8String(name.value)),
      ]);
    case 'email':
      return ascii(1, name.value);
    case 'dns':
      return ascii(2, name.value);
    case 'directory':
      return explicit(4, name.name);
    case 'uri':
      return ascii(6, name.value);
    case 'ip':
      return primitive(contextTag(7, 'primitive'), ipOctets(name.value));
    case 'registeredId':
      return primitive(
        contextTag(8, 'primitive'),
        new DerReader(objectIdentifier(name.oid)).read().content,
      );
    case 'raw':
      return name.element;
  }
};

const latin1 = (content: Uint8Array): string => Buffer.from(content).toString('latin1');

const parseOtherName = (content: Uint8Array, element: Uint8Array): GeneralName => {
  const reader = new DerReader(content);
  const oid = reader.readObjectIdentifier();
  const wrapper = reader.enter(contextTag(0, 'constructed'));
  const value = wrapper.read();
  return value.tag === TAG.utf8String
    ? { kind: 'other', oid, value: Buffer.from(value.content).toString('utf8') }
    : { kind: 'raw', element };
};

const parseOne = (reader: DerReader): GeneralName => {
  const { tag, content, bytes } = reader.read();
  switch (tag) {
    case contextTag(0, 'constructed'):
      return parseOtherName(content, bytes);
    case contextTag(1, 'primitive'):
      return { kind: 'email', value: latin1(content) };
    case contextTag(2, 'primitive'):
      return { kind: 'dns', value: latin1(content) };
    case contextTag(4, 'constructed'):
      return { kind: 'directory', name: content };
    case contextTag(6, 'primitive'):
      return { kind: 'uri', value: latin1(content) };
    case contextTag(7, 'primitive'): {
      const value = formatIpAddress(content);
      if (value === undefined)
        throw new KeelsonError('pki.malformed', { text: 'malformed IP address in a name' });
      return { kind: 'ip', value };
    }
    case contextTag(8, 'primitive'):
      return { kind: 'registeredId', oid: parseObjectIdentifierContent(content) };
    default:
      return { kind: 'raw', element: bytes };
  }
};

const MAX_NAME_COUNT = 1000;

/** The names in a GeneralNames SEQUENCE. */
export const parseGeneralNames = (der: Uint8Array): readonly GeneralName[] => {
  const outer = new DerReader(der);
  const reader = outer.enter();
  outer.expectEnd();
  const names: GeneralName[] = [];
  while (!reader.atEnd) {
    if (names.length >= MAX_NAME_COUNT)
      throw new KeelsonError('pki.malformed', { text: 'too many alternative names' });
    names.push(parseOne(reader));
  }
  return names;
};
