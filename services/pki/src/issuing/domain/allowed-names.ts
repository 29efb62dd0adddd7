/** The alternative names of a request that a role allows, and why it does not allow the others (reference §3.2, §3.3). */
import { matchesGlob } from '@keelson/secrets-api/glob';
import { parseIpAddress, parseIpRange } from '@keelson/x509';
import { type AlternativeNames, listNames } from '../../names/domain/alternative-names.ts';
import { findOtherNameRefusal } from '../../names/domain/other-name.ts';
import { acceptsName } from '../../roles/domain/name-acceptance.ts';
import { withoutTemplates } from '../../roles/domain/name-templates.ts';
import type { Role } from '../../roles/domain/role.ts';

/** Names that a role does not allow for one reason. */
export interface NameRefusal {
  readonly names: readonly string[];
  /** Has the names and the reason. */
  readonly text: string;
}

/** Where the names come from, in the words of the error texts. */
type NameSource = 'CSR' | 'the API';

const inRange = (address: Uint8Array, cidr: string): boolean => {
  const range = parseIpRange(cidr);
  const size = address.byteLength;
  return (
    range !== undefined &&
    range.byteLength === 2 * size &&
    address.every((octet, i) => (octet & (range[size + i] as number)) === range[i])
  );
};

const isAllowedIp = ({ allowedIpSansCidr }: Role, text: string): boolean => {
  if (allowedIpSansCidr.length === 0) return true;
  const address = parseIpAddress(text);
  return address !== undefined && allowedIpSansCidr.some((cidr) => inRange(address, cidr));
};

/** One refusal for each name. */
const refuseEach = (
  names: readonly string[],
  describe: (name: string) => string,
): readonly NameRefusal[] => names.map((name) => ({ names: [name], text: describe(name) }));

/** One refusal for all names, if there are any. */
const refuseTogether = (names: readonly string[], reason: string): readonly NameRefusal[] =>
  names.length === 0 ? [] : [{ names, text: `${reason}: ${listNames(names)}` }];

const findIpRefusals = (
  role: Role,
  ips: readonly string[],
  source: NameSource,
): readonly NameRefusal[] =>
  role.allowIpSans
    ? refuseEach(
        ips.filter((ip) => !isAllowedIp(role, ip)),
        (ip) => `the IP address "${ip}" is not allowed in this role`,
      )
    : refuseTogether(
        ips,
        `IP Subject Alternative Names are not allowed in this role, but was provided via ${source}`,
      );

const findUriRefusals = (
  role: Role,
  uris: readonly string[],
  source: NameSource,
): readonly NameRefusal[] => {
  const kind = 'URI Subject Alternative Names';
  if (role.allowedUriSans.length === 0)
    return refuseTogether(
      uris,
      `${kind} are not allowed in this role, but were provided via ${source}`,
    );
  const globs = withoutTemplates(role.allowedUriSans, role.allowedUriSansTemplate);
  return refuseTogether(
    uris.filter((uri) => !globs.some((glob) => matchesGlob(glob, uri))),
    `${kind} were provided via ${source} which are not valid for this role`,
  );
};

/** @returns the allowed names in their order, and a refusal for each of the others */
export const selectAllowedNames = (
  role: Role,
  names: AlternativeNames,
  source: NameSource,
): { readonly allowed: AlternativeNames; readonly refusals: readonly NameRefusal[] } => {
  const isRefused = (name: string): boolean => !acceptsName(role, name);
  const otherRefusals = names.others.flatMap((other) => {
    const text = findOtherNameRefusal(other, role.allowedOtherSans);
    return text === undefined ? [] : [{ other, names: [`${other.oid};UTF8:${other.value}`], text }];
  });
  const emails = refuseEach(
    names.emails.filter(isRefused),
    (name) => `email address ${name} not allowed by this role`,
  );
  const dns = refuseEach(
    names.dns.filter(isRefused),
    (name) => `subject alternate name ${name} not allowed by this role`,
  );
  const ips = findIpRefusals(role, names.ips, source);
  const uris = findUriRefusals(role, names.uris, source);
  const without = (all: readonly string[], refusals: readonly NameRefusal[]): readonly string[] => {
    const refused = new Set(refusals.flatMap((refusal) => refusal.names));
    return all.filter((name) => !refused.has(name));
  };
  const refusedOthers = new Set(otherRefusals.map(({ other }) => other));
  return {
    allowed: {
      dns: without(names.dns, dns),
      emails: without(names.emails, emails),
      ips: without(names.ips, ips),
      uris: without(names.uris, uris),
      others: names.others.filter((other) => !refusedOthers.has(other)),
    },
    refusals: [...emails, ...dns, ...otherRefusals, ...ips, ...uris],
  };
};
