/** Roles as the engine returns them, and their effect on a request. */
import { durationSeconds } from '../components/duration.ts';
import { formatSeconds } from '../components/format.ts';

export interface Role {
  readonly issuer_ref: string;
  readonly ttl: string;
  readonly max_ttl: string;
  readonly allow_localhost: boolean;
  readonly allowed_domains: readonly string[];
  readonly allow_bare_domains: boolean;
  readonly allow_subdomains: boolean;
  readonly allow_glob_domains: boolean;
  readonly allow_wildcard_certificates: boolean;
  readonly allow_any_name: boolean;
  readonly allow_ip_sans: boolean;
  readonly server_flag: boolean;
  readonly client_flag: boolean;
  readonly code_signing_flag: boolean;
  readonly email_protection_flag: boolean;
  readonly key_type: string;
  readonly key_bits: number;
  readonly require_cn: boolean;
  readonly no_store: boolean;
  readonly generate_lease: boolean;
}

/** The fields of a role that decide which names it allows. */
export type NameRules = Pick<
  Role,
  | 'allow_any_name'
  | 'allowed_domains'
  | 'allow_bare_domains'
  | 'allow_subdomains'
  | 'allow_glob_domains'
  | 'allow_localhost'
  | 'allow_wildcard_certificates'
  | 'allow_ip_sans'
>;

/** The rules that decide about a request. */
export type RequestRules = NameRules & Pick<Role, 'ttl' | 'max_ttl'>;

/** The name rules as sentences, in the order in which they are checked. */
export const nameRules = (role: NameRules): readonly string[] => {
  if (role.allow_any_name) return ['Any name is certified.'];
  const domains = role.allowed_domains.join(', ');
  const rules: string[] = [];
  if (domains === '') rules.push('No domain is allowed.');
  else {
    if (role.allow_bare_domains) rules.push(`The domains themselves: ${domains}.`);
    if (role.allow_subdomains) rules.push(`Names below ${domains}.`);
    if (role.allow_glob_domains) rules.push(`Names that fit the pattern ${domains}.`);
    if (!role.allow_bare_domains && !role.allow_subdomains && !role.allow_glob_domains)
      rules.push(`${domains} is named, but neither it nor what is below it is allowed.`);
  }
  if (role.allow_localhost) rules.push('localhost.');
  if (!role.allow_wildcard_certificates) rules.push('No wildcards.');
  rules.push(role.allow_ip_sans ? 'Any IP address.' : 'No IP address.');
  return rules;
};

/** Permitted uses of certificates issued with the role, as text. */
export const usesOf = (role: Role): string =>
  [
    role.server_flag && 'servers',
    role.client_flag && 'clients',
    role.code_signing_flag && 'signing code',
    role.email_protection_flag && 'mail',
  ]
    .filter(Boolean)
    .join(', ') || 'no use that the role names';

export interface Decision {
  readonly isAllowed: boolean;
  readonly reason: string;
}

/** Whether a name is an IP address, or looks like one. */
export const isAddress = (name: string): boolean =>
  /^[\d.]+$/.test(name) || (name.includes(':') && /^[\da-f:.]+$/i.test(name));

/** Whether a name matches a pattern in which an asterisk matches any text. */
const fitsPattern = (name: string, pattern: string): boolean => {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined || !name.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
};

/**
 * The rule of a role that allows a name, or the one that is missing. An estimate; the server
 * decides.
 */
export const nameDecision = (rules: NameRules, requested: string): Decision => {
  const name = requested.toLowerCase();
  const allowed = (reason: string): Decision => ({ isAllowed: true, reason });
  const refused = (reason: string): Decision => ({ isAllowed: false, reason });
  if (name === '') return refused('A name is needed.');
  if (isAddress(name))
    return rules.allow_ip_sans
      ? allowed('IP addresses are allowed, as alternative names.')
      : refused('IP addresses are not allowed.');
  if (name.startsWith('*.') && !rules.allow_wildcard_certificates && !rules.allow_any_name)
    return refused('Wildcards are not allowed.');
  if (rules.allow_any_name) return allowed('Any name is allowed.');
  if (name === 'localhost' && rules.allow_localhost) return allowed('localhost is allowed.');
  for (const domain of rules.allowed_domains.map((one) => one.trim().toLowerCase())) {
    if (domain === '') continue;
    if (name === domain && rules.allow_bare_domains) return allowed(`${domain} itself is allowed.`);
    if (name.endsWith(`.${domain}`) && rules.allow_subdomains)
      return allowed(`Names below ${domain} are allowed.`);
    if (rules.allow_glob_domains && fitsPattern(name, domain))
      return allowed(`It fits the pattern ${domain}.`);
    if (name === domain)
      return refused(`Only names below ${domain} are allowed, not ${domain} itself.`);
    if (name.endsWith(`.${domain}`)) return refused(`Only ${domain} itself is allowed.`);
  }
  return refused('It is in none of the domains.');
};

/**
 * The answer to a request for a lifetime; "" asks for none. An estimate: the authority and the issuer
 * may allow less.
 */
export const lifetimeDecision = (
  rules: Pick<RequestRules, 'ttl' | 'max_ttl'>,
  requested: string,
): Decision => {
  const usual = durationSeconds(rules.ttl) ?? 0;
  const most = durationSeconds(rules.max_ttl) ?? 0;
  const asked = requested === '' ? undefined : durationSeconds(requested);
  if (requested !== '' && (asked === undefined || asked === 0))
    return { isAllowed: false, reason: 'The validity is not a duration.' };
  if (asked !== undefined && most > 0 && asked > most)
    return { isAllowed: false, reason: `It is valid for at most ${formatSeconds(most)}.` };
  const granted = asked ?? usual;
  return {
    isAllowed: true,
    reason:
      granted > 0
        ? `It is valid for ${formatSeconds(granted)}.`
        : 'It is valid for as long as the authority says.',
  };
};
