/** Checks names against the name constraints of a CA (RFC 5280 §4.2.1.10). */
import { KeelsonError } from '@keelson/errors';
import { DerReader } from '../der/der-reader.ts';
import { contextTag, TAG } from '../der/der-types.ts';
import { ATTRIBUTE, attributeValues, parseName } from '../names/distinguished-name.ts';
import { parseIpAddress } from '../names/ip-address.ts';

/** A GeneralName as its tag and content; an IP range is address octets, then mask octets. */
export interface ConstrainedName {
  readonly tag: number;
  readonly content: Uint8Array;
}

export interface ParsedNameConstraints {
  readonly permitted: readonly ConstrainedName[];
  readonly excluded: readonly ConstrainedName[];
}

const MAX_SUBTREE_COUNT = 1000;
const NAME_TAG = {
  email: contextTag(1, 'primitive'),
  dns: contextTag(2, 'primitive'),
  directory: contextTag(4, 'constructed'),
  uri: contextTag(6, 'primitive'),
  ip: contextTag(7, 'primitive'),
} as const;

const readNames = (reader: DerReader, enter: (item: DerReader) => DerReader): ConstrainedName[] => {
  const names: ConstrainedName[] = [];
  while (!reader.atEnd) {
    if (names.length >= MAX_SUBTREE_COUNT)
      throw new KeelsonError('pki.malformed', { text: 'too many names' });
    const { tag, content } = enter(reader).read();
    names.push({ tag, content });
  }
  return names;
};

/** @throws KeelsonError `pki.malformed` */
export const parseNameConstraints = (value: Uint8Array): ParsedNameConstraints => {
  const parts = new DerReader(value).enter();
  const subtrees = (number: number): readonly ConstrainedName[] => {
    const element = parts.readOptional(contextTag(number, 'constructed'));
    return element === undefined
      ? []
      : readNames(new DerReader(element.content), (item) => item.enter());
  };
  return { permitted: subtrees(0), excluded: subtrees(1) };
};

const text = (content: Uint8Array): string => Buffer.from(content).toString('latin1').toLowerCase();

/**
 * The names of a certificate that constraints apply to: alternative names, the subject, and the
 * e-mail addresses in it.
 * @param subjectAltName value of the extension
 */
export const constrainedNames = (
  subject: Uint8Array,
  subjectAltName: Uint8Array | undefined,
): readonly ConstrainedName[] => {
  const alternatives =
    subjectAltName === undefined
      ? []
      : readNames(new DerReader(subjectAltName).enter(), (item) => item);
  const name = parseName(subject);
  const emails = attributeValues(name, ATTRIBUTE.emailAddress);
  return [
    ...alternatives,
    ...(name.length > 0 ? [{ tag: NAME_TAG.directory, content: subject }] : []),
    ...emails.map((email) => ({ tag: NAME_TAG.email, content: Buffer.from(email, 'latin1') })),
  ];
};

const isHostBelow = (host: string, base: string): boolean =>
  base.startsWith('.') ? host.endsWith(base) : host === base;

const dnsMatches = (name: string, base: string): boolean =>
  base === '' || isHostBelow(name, base) || (!base.startsWith('.') && name.endsWith(`.${base}`));

/** A wildcard matches every name one label below, so an excluded one among those excludes it. */
const wildcardReaches = (name: string, base: string): boolean =>
  name.startsWith('*.') && base.slice(base.indexOf('.')) === name.slice(1);

const emailMatches = (address: string, base: string): boolean =>
  base.includes('@')
    ? address === base
    : isHostBelow(address.slice(address.lastIndexOf('@') + 1), base);

/**
 * Only host names can be checked against a constraint, so a URI with any other authority never
 * matches (RFC 5280 §4.2.1.10).
 */
const uriHost = (uri: string): string | undefined => {
  const host = URL.canParse(uri) ? new URL(uri).hostname : '';
  return host === '' || host.startsWith('[') || parseIpAddress(host) ? undefined : host;
};

const ipMatches = (address: Uint8Array, range: Uint8Array): boolean =>
  range.byteLength === 2 * address.byteLength &&
  address.every(
    (octet, i) =>
      (octet & (range[address.byteLength + i] as number)) ===
      ((range[i] as number) & (range[address.byteLength + i] as number)),
  );

const relativeNames = (name: Uint8Array): readonly Buffer[] => {
  const rdns = new DerReader(name).enter();
  const parts: Buffer[] = [];
  while (!rdns.atEnd) parts.push(Buffer.from(rdns.read(TAG.set).bytes));
  return parts;
};

const directoryMatches = (name: Uint8Array, base: Uint8Array): boolean => {
  const parts = relativeNames(name);
  return relativeNames(base).every((rdn, i) => parts[i]?.equals(rdn) === true);
};

const matches = (name: ConstrainedName, base: ConstrainedName, excludes: boolean): boolean => {
  switch (name.tag) {
    case NAME_TAG.dns: {
      const [host, domain] = [text(name.content), text(base.content)];
      return dnsMatches(host, domain) || (excludes && wildcardReaches(host, domain));
    }
    case NAME_TAG.email:
      return emailMatches(text(name.content), text(base.content));
    case NAME_TAG.uri: {
      const host = uriHost(text(name.content));
      return host === undefined ? excludes : isHostBelow(host, text(base.content));
    }
    case NAME_TAG.ip:
      return ipMatches(name.content, base.content);
    case NAME_TAG.directory:
      return directoryMatches(name.content, base.content);
    default:
      // Fail closed: a constraint on a name form that is not interpreted permits nothing and
      // excludes everything.
      return excludes;
  }
};

const show = ({ tag, content }: ConstrainedName): string => {
  if (tag === NAME_TAG.ip) return Array.from(content).join('.');
  return tag === NAME_TAG.directory ? 'the subject' : JSON.stringify(text(content));
};

/** The reason why one of the names is not allowed; undefined when all are. */
export const findConstraintViolation = (
  { permitted, excluded }: ParsedNameConstraints,
  names: readonly ConstrainedName[],
): string | undefined => {
  for (const name of names) {
    const isSameForm = (base: ConstrainedName): boolean => base.tag === name.tag;
    if (excluded.some((base) => isSameForm(base) && matches(name, base, true)))
      return `${show(name)} is excluded by a name constraint`;
    const allowed = permitted.filter(isSameForm);
    if (allowed.length > 0 && !allowed.some((base) => matches(name, base, false)))
      return `${show(name)} is not permitted by any name constraint`;
  }
  return undefined;
};
