/** Filters and distinguished names with names that strangers choose, which are escaped (RFC 4515, RFC 4514). */
import type { LdapConfig } from './domain/ldap-config.ts';

/** Values that templates of filters may have. */
export interface FilterValues {
  readonly UserAttr?: string;
  readonly Username?: string;
  readonly UserDN?: string;
}

const VARIABLE = /\{\{\s*\.(\w+)\s*\}\}/g;

/** Loaded by the first use: few installations have directories. */
const loadLibrary = () => import('ldapts');

const render = async (template: string, values: FilterValues): Promise<string> => {
  const { Filter } = await loadLibrary();
  return template.replace(VARIABLE, (whole, name: string) => {
    const value = values[name as keyof FilterValues];
    if (value === undefined) return whole;
    // The name of an attribute is one that the operator chose, not a value.
    return name === 'UserAttr' ? value : Filter.escape(value);
  });
};

/** The filter of a template. @throws Error for a text that is not a filter */
const toFilter = async (template: string, values: FilterValues) => {
  const { FilterParser } = await loadLibrary();
  return FilterParser.parseString(await render(template, values));
};

export type DirectoryFilter = Awaited<ReturnType<typeof toFilter>>;

/** With a domain, people are found by their principal name, as in Active Directory. */
export const userFilterOf = (config: LdapConfig, username: string): Promise<DirectoryFilter> =>
  toFilter(
    config.userFilter,
    config.upnDomain === ''
      ? { UserAttr: config.userAttribute, Username: username }
      : { UserAttr: 'userPrincipalName', Username: `${username}@${config.upnDomain}` },
  );

export const groupFilterOf = (
  config: LdapConfig,
  username: string,
  userDn: string,
): Promise<DirectoryFilter> => toFilter(config.groupFilter, { Username: username, UserDN: userDn });

/** @returns what is wrong with a template; undefined if nothing is */
export const filterComplaint = async (
  name: 'userfilter' | 'groupfilter',
  template: string,
): Promise<string | undefined> => {
  const values =
    name === 'userfilter' ? { UserAttr: 'cn', Username: 'a' } : { Username: 'a', UserDN: 'cn=a' };
  try {
    await toFilter(template, values);
    if (!(await render(template, values)).includes('{{')) return undefined;
  } catch {
    // The text is no filter.
  }
  const known = Object.keys(values).map((one) => `{{.${one}}}`);
  return `${name} must be an LDAP filter (RFC 4515), in which ${known.join(' and ')} are replaced`;
};

/** The name of a person for a bind without a search. */
export const directBindName = async (config: LdapConfig, username: string): Promise<string> => {
  if (config.upnDomain !== '') return `${username}@${config.upnDomain}`;
  const { DN } = await loadLibrary();
  const own = new DN({ [config.userAttribute]: username }).toString();
  return config.userDn === '' ? own : `${own},${config.userDn}`;
};
