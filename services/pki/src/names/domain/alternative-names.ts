/** Requested alternative names, sorted by kind and without duplicates, and descriptions of the invalid ones. */
import { KeelsonError } from '@keelson/errors';
import { formatIpAddress, type GeneralName, parseIpAddress } from '@keelson/x509';
import { isHostname, isRelaxedHostname, toAsciiHostname } from './hostname.ts';
import { type OtherName, parseOtherName } from './other-name.ts';

export interface AlternativeNames {
  /** ASCII. */
  readonly dns: readonly string[];
  readonly emails: readonly string[];
  readonly ips: readonly string[];
  readonly uris: readonly string[];
  readonly others: readonly OtherName[];
}

/** Rules that differ between the dialects of callers. */
export interface NameRules {
  /**
   * A name that cannot be in the certificate, or that the role does not allow, refuses the request,
   * or is left out with a warning.
   */
  readonly unusable: 'refuse' | 'drop';
  /** The kind of name as which a common name that is an IP address is repeated. */
  readonly addressCommonName: 'ip' | 'dns';
}

/** For callers that have no dialect. */
export const STRICT_NAMES: NameRules = { unusable: 'refuse', addressCommonName: 'ip' };

/** Requested names, and descriptions of those that cannot be in a certificate. */
export interface RequestedNames {
  readonly names: AlternativeNames;
  readonly unusable: readonly string[];
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/**
 * A common name without the dot of the DNS root if it is a host name. Names in certificates do not have
 * it (RFC 5280 §4.2.1.6, RFC 1034 §3.5), and verifiers would not find the name they look for.
 */
export const withoutRootDot = (name: string): string =>
  name.endsWith('.') && name.indexOf('.') < name.length - 1 && isHostname(name.replaceAll('*', 'x'))
    ? name.slice(0, -1)
    : name;

/**
 * The ASCII form of a name that can be a dNSName; undefined for others. Stars are left to the role:
 * they have to be where a label could have a letter.
 * @param isRelaxed labels may have underscores
 */
const toDnsName = (name: string, isRelaxed: boolean): string | undefined => {
  const ascii = toAsciiHostname(name);
  const starless = ascii?.replaceAll('*', 'x');
  const isUsable =
    ascii !== undefined &&
    starless !== undefined &&
    (isHostname(starless) || (isRelaxed && isRelaxedHostname(starless)));
  if (!isUsable) return undefined;
  return ascii.endsWith('.') ? ascii.slice(0, -1) : ascii;
};

/** Host names in ASCII, and descriptions of the invalid ones. */
export const sortDnsNames = (
  values: readonly string[],
  isRelaxed: boolean,
): { readonly dns: readonly string[]; readonly unusable: readonly string[] } => {
  const dns: string[] = [];
  const unusable: string[] = [];
  for (const value of values) {
    const name = toDnsName(value, isRelaxed);
    if (name === undefined) unusable.push(`${JSON.stringify(value)} (not a host name)`);
    else dns.push(name);
  }
  return { dns, unusable };
};

const isEmail = (name: string): boolean => name.includes('@');

/** The parameters of a request body that hold alternative names. */
export interface AlternativeNameParameters {
  /** Host names and e-mail addresses. */
  readonly altNames: readonly string[];
  readonly ipSans: readonly string[];
  readonly uriSans: readonly string[];
  readonly otherSans: readonly string[];
}

/**
 * Names from a request body, sorted by kind.
 * @param isRelaxed host names may have underscores
 * @throws KeelsonError `request.invalid` for values that are no IP address, URI or other name
 */
export const readAlternativeNames = (
  { altNames, ipSans, uriSans, otherSans }: AlternativeNameParameters,
  isRelaxed: boolean,
): RequestedNames => {
  const badIp = ipSans.find((text) => parseIpAddress(text) === undefined);
  if (badIp !== undefined) refuse(`the value "${badIp}" is not a valid IP address`);
  const badUri = uriSans.find((text) => !URL.canParse(text));
  if (badUri !== undefined) refuse(`the provided URI "${badUri}" is not a valid URI`);
  const { dns, unusable } = sortDnsNames(
    altNames.filter((name) => !isEmail(name)),
    isRelaxed,
  );
  return {
    names: {
      dns,
      emails: altNames.filter(isEmail),
      ips: ipSans,
      uris: uriSans,
      others: otherSans.map(parseOtherName),
    },
    unusable,
  };
};

/** The kind of alternative name that repeats a common name; none for a common name that is only a description. */
const repeatCommonName = (
  commonName: string,
  { addressCommonName }: NameRules,
  isRelaxed: boolean,
): Partial<Pick<AlternativeNames, 'dns' | 'emails' | 'ips'>> => {
  if (commonName === '') return {};
  if (isEmail(commonName)) return { emails: [commonName] };
  if (addressCommonName === 'ip' && parseIpAddress(commonName) !== undefined)
    return { ips: [commonName] };
  return { dns: sortDnsNames([commonName], isRelaxed).dns };
};

const uniqueBy = <T>(values: readonly T[], keyOf: (value: T) => string): readonly T[] => {
  const seen = new Map<string, T>();
  for (const value of values) {
    const key = keyOf(value);
    if (!seen.has(key)) seen.set(key, value);
  }
  return [...seen.values()];
};

/** The written form of an address, which may be given in several. */
const addressKey = (text: string): string => {
  const octets = parseIpAddress(text);
  return (octets && formatIpAddress(octets)) ?? text;
};

/** The mailbox distinguishes case, its host does not (RFC 5280 §7.5). */
const emailKey = (address: string): string => {
  const host = address.indexOf('@');
  return address.slice(0, host) + address.slice(host).toLowerCase();
};

const asIs = (value: string): string => value;

/**
 * Adds the common name, and removes duplicates. Hosts are the same in any case (RFC 4343),
 * IP addresses in any spelling.
 */
export const withCommonName = (
  names: AlternativeNames,
  commonName: string,
  rules: NameRules,
  isRelaxed: boolean,
): AlternativeNames => {
  const repeated = repeatCommonName(commonName, rules, isRelaxed);
  const { dns = [], emails = [], ips = [] } = repeated;
  return {
    dns: uniqueBy([...names.dns, ...dns], (name) => name.toLowerCase()),
    emails: uniqueBy([...names.emails, ...emails], emailKey),
    ips: uniqueBy([...names.ips, ...ips], addressKey),
    uris: uniqueBy(names.uris, asIs),
    others: uniqueBy(names.others, ({ oid, value }) => `${oid};${value}`),
  };
};

/** Further ones are only counted, because a request may have a thousand. */
const MAX_LISTED = 10;

/** Names or texts for an error or a warning. */
export const listNames = (names: readonly string[], separator = ', '): string => {
  const more = names.length - MAX_LISTED;
  return names.slice(0, MAX_LISTED).join(separator) + (more > 0 ? ` and ${more} more` : '');
};

/**
 * Refuses unusable names, or turns them into warnings.
 * @returns the warnings
 * @throws KeelsonError `request.invalid` naming them, where the rules refuse them
 */
export const judgeUnusable = (unusable: readonly string[], rules: NameRules): readonly string[] => {
  if (unusable.length === 0) return [];
  const list = listNames(unusable);
  if (rules.unusable === 'refuse')
    refuse(`subject alternative names that cannot be in the certificate: ${list}`);
  return [`subject alternative names left out of the certificate: ${list}`];
};

/** Alternative names as they are written: other names, host names, e-mail addresses, addresses, URIs. */
export const toGeneralNames = (names: AlternativeNames): readonly GeneralName[] => [
  ...names.others.map((other): GeneralName => ({ kind: 'other', ...other })),
  ...names.dns.map((value): GeneralName => ({ kind: 'dns', value })),
  ...names.emails.map((value): GeneralName => ({ kind: 'email', value })),
  ...names.ips.map((value): GeneralName => ({ kind: 'ip', value })),
  ...names.uris.map((value): GeneralName => ({ kind: 'uri', value })),
];
