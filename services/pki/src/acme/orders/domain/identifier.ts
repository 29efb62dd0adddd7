/** Identifiers that certificates are ordered for: host names (RFC 8555 §7.1.4) and addresses (RFC 8738 §3). */

import { domainToASCII, domainToUnicode } from 'node:url';
import type { Shaped } from '@keelson/storage/shape';
import { formatIpAddress, parseIpAddress } from '@keelson/x509';
import { Type } from 'typebox';
import { isHostname, toAsciiHostname } from '../../../names/domain/hostname.ts';
import {
  AcmeProblem,
  combineProblems,
  malformed,
  type Subproblem,
} from '../../problems/problem.ts';

export const identifierShape = Type.Object({
  type: Type.Enum(['dns', 'ip']),
  value: Type.String(),
});
export type Identifier = Shaped<typeof identifierShape>;

const MAX_IDENTIFIERS = 100;

const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const ENCODED_LABEL = /(?:^|\.)xn--/;

/** RFC 8555 §7.1.4: a label that begins with "xn--" must equal the encoding of its decoded form. */
const isProperlyEncoded = (name: string): boolean => {
  if (!ENCODED_LABEL.test(name)) return true;
  // domainToUnicode leaves a label that cannot be decoded encoded.
  const decoded = domainToUnicode(name);
  return !ENCODED_LABEL.test(decoded) && domainToASCII(decoded) === name;
};

/** A host name in the form used for comparison; undefined when no certificate could contain it. */
const toDnsName = (text: string): string | undefined => {
  const name = text.toLowerCase();
  const bare = name.startsWith('*.') ? name.slice(2) : name;
  // RFC 8555 §7.1.4: internationalized names must be sent in their encoded form. A final dot is not
  // part of a SAN.
  const isPlain = toAsciiHostname(bare) === bare && isHostname(bare) && !bare.endsWith('.');
  if (
    !isPlain ||
    !isProperlyEncoded(bare) ||
    bare.includes('*') ||
    parseIpAddress(bare) !== undefined
  )
    return undefined;
  // Some programs would take a name whose last label has only digits for an address.
  return /(?:^|\.)\d+$/.test(bare) ? undefined : name;
};

/**
 * An IPv6 address in the form of RFC 5952 §4, from any form of RFC 4291 §2.2. IPv4 has
 * one form (RFC 1123 §2.1); IPv4-mapped IPv6 addresses are not accepted.
 */
const toIpText = (text: string): string | undefined => {
  const octets = parseIpAddress(text);
  const canonical = octets && formatIpAddress(octets);
  return text.includes(':') === canonical?.includes(':') ? canonical : undefined;
};

const ONION = /(?:^|\.)onion$/;

const readOne = (raw: unknown): Identifier => {
  const { type, value } = asObject(raw);
  if (typeof type !== 'string' || typeof value !== 'string')
    throw malformed('an identifier must have a "type" and a "value", both strings');
  if (type !== 'dns' && type !== 'ip')
    throw new AcmeProblem(
      'unsupportedIdentifier',
      `identifiers of type "${type}" are not supported`,
      {
        subproblems: [
          {
            type: 'unsupportedIdentifier',
            detail: 'only "dns" and "ip" are supported',
            identifier: { type, value },
          },
        ],
      },
    );
  const read = type === 'dns' ? toDnsName(value) : toIpText(value);
  if (read !== undefined && type === 'dns' && ONION.test(read))
    throw new AcmeProblem(
      'rejectedIdentifier',
      `"${value}" could never be validated: the DNS does not resolve .onion names (RFC 7686)`,
    );
  if (read === undefined)
    throw new AcmeProblem(
      'rejectedIdentifier',
      type === 'dns'
        ? `"${value}" is not a host name in its ASCII form`
        : `"${value}" is not an IP address`,
    );
  return { type, value: read };
};

/**
 * The identifiers of a new order in lower case, without duplicates, in the order of the request.
 * @throws AcmeProblem `malformed`, `unsupportedIdentifier`, `rejectedIdentifier`
 */
export const parseIdentifiers = (raw: unknown): readonly Identifier[] => {
  if (!Array.isArray(raw) || raw.length === 0)
    throw malformed('"identifiers" must be a list of at least one identifier');
  if (raw.length > MAX_IDENTIFIERS)
    throw malformed(`an order holds at most ${MAX_IDENTIFIERS} identifiers`);
  const identifiers = new Map<string, Identifier>();
  const refused: Subproblem[] = [];
  for (const one of raw as readonly unknown[])
    try {
      const identifier = readOne(one);
      identifiers.set(`${identifier.type}:${identifier.value}`, identifier);
    } catch (error) {
      if (!(error instanceof AcmeProblem) || error.type === 'malformed') throw error;
      const { type, value } = asObject(one) as Record<string, string>;
      refused.push({
        type: error.type,
        detail: error.message,
        identifier: { type: type ?? '', value: value ?? '' },
      });
    }
  const [first, ...others] = refused;
  if (first !== undefined) throw combineProblems([first, ...others]);
  return [...identifiers.values()];
};

/** The identifier of an authorization: the parent name of a wildcard, or the ordered identifier itself. */
export const authorizedIdentifier = ({
  type,
  value,
}: Identifier): { readonly identifier: Identifier; readonly wildcard: boolean } => {
  const wildcard = type === 'dns' && value.startsWith('*.');
  return { identifier: { type, value: wildcard ? value.slice(2) : value }, wildcard };
};
