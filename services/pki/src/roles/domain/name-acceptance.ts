/**
 * Which names a role allows in a certificate (reference §3.2). A name is an e-mail address when it has
 * an `@`, else a host name, possibly with one wildcard in its first label. The ways to be accepted
 * (any name, localhost, bare domain, subdomain, glob) are independent of each other.
 */
import { matchesGlob } from '@keelson/secrets-api/glob';
import { isHostname, isWildcardLabel, toAsciiHostname } from '../../names/domain/hostname.ts';
import { withoutTemplates } from './name-templates.ts';
import type { Role } from './role.ts';

interface NameForm {
  /** As requested. */
  readonly full: string;
  /** The host part, without its wildcard label. */
  readonly reduced: string;
  readonly isEmail: boolean;
  readonly wildcardLabel: string | undefined;
}

/** The form of a name; undefined when it has none that could be accepted. */
const parseForm = (full: string, allowWildcards: boolean): NameForm | undefined => {
  const parts = full.split('@');
  if (parts.length > 2) return undefined;
  const isEmail = parts.length === 2;
  const host = parts.at(-1) ?? '';
  if (!host.includes('*')) return { full, reduced: host, isEmail, wildcardLabel: undefined };
  const dot = host.indexOf('.');
  const label = host.slice(0, dot);
  const reduced = host.slice(dot + 1);
  const hasOneStar = label.split('*').length === 2 && !reduced.includes('*');
  if (!allowWildcards || isEmail || dot < 0 || !hasOneStar) return undefined;
  return { full, reduced, isEmail, wildcardLabel: label };
};

const isWellFormedHost = ({ reduced, wildcardLabel }: NameForm): boolean => {
  const ascii = toAsciiHostname(reduced);
  return (
    ascii !== undefined &&
    isHostname(ascii) &&
    (wildcardLabel === undefined || isWildcardLabel(wildcardLabel))
  );
};

const LOCAL_NAMES = ['localhost', 'localdomain'];

const isLocal = (form: NameForm, allowSubdomains: boolean): boolean =>
  LOCAL_NAMES.some((local) => {
    if (form.reduced === local) return form.wildcardLabel === undefined || allowSubdomains;
    return allowSubdomains && form.reduced.endsWith(`.${local}`);
  });

const equalsIgnoringCase = (a: string, b: string): boolean =>
  a.length === b.length && a.toLowerCase() === b.toLowerCase();

const matchesDomain = (role: Role, form: NameForm, domain: string): boolean => {
  const { full, reduced, isEmail, wildcardLabel } = form;
  if (
    role.allowBareDomains &&
    (equalsIgnoringCase(full, domain) || (isEmail && equalsIgnoringCase(reduced, domain)))
  )
    return true;
  if (
    role.allowSubdomains &&
    (reduced.endsWith(`.${domain}`) ||
      (wildcardLabel !== undefined && equalsIgnoringCase(reduced, domain)))
  )
    return true;
  return (
    role.allowGlobDomains &&
    domain.includes('*') &&
    matchesGlob(domain.toLowerCase(), full.toLowerCase())
  );
};

/** Whether the role allows this name. */
export const acceptsName = (role: Role, name: string): boolean => {
  const form = parseForm(name, role.allowWildcardCertificates);
  if (form === undefined) return false;
  if (role.enforceHostnames && !isWellFormedHost(form)) return false;
  if (role.allowAnyName) return true;
  if (role.allowLocalhost && isLocal(form, role.allowSubdomains)) return true;
  const domains = withoutTemplates(role.allowedDomains, role.allowedDomainsTemplate);
  return domains.some((domain) => domain !== '' && matchesDomain(role, form, domain));
};

/** Whether the role lets this common name in; `cn_validations` decides about its kind. */
export const acceptsCommonName = (role: Role, name: string): boolean => {
  if (role.cnValidations.includes('disabled')) return true;
  const kind = name.includes('@') ? 'email' : 'hostname';
  return role.cnValidations.includes(kind) && acceptsName(role, name);
};
