/** Where a directory is, how people are found in it, and what their logins have. */
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { DEFAULT_TOKEN_SETTINGS, tokenSettingsShape } from '../../logins/domain/token-settings.ts';

export const TLS_VERSIONS = ['tls10', 'tls11', 'tls12', 'tls13'] as const;
const tlsVersionShape = Type.Enum(TLS_VERSIONS);
export type TlsVersion = Shaped<typeof tlsVersionShape>;

export const ldapConfigShape = Type.Object({
  /** Tried in this order. */
  urls: Type.Array(Type.String()),
  startTls: Type.Boolean(),
  insecureTls: Type.Boolean(),
  caPem: Type.String(),
  tlsMinVersion: tlsVersionShape,
  tlsMaxVersion: tlsVersionShape,
  requestTimeoutSeconds: Type.Number(),
  connectionTimeoutSeconds: Type.Number(),
  /** "" if people are not searched for with an account of the mount. */
  bindDn: Type.String(),
  bindPassword: Type.String(),
  discoversDn: Type.Boolean(),
  userDn: Type.String(),
  userAttribute: Type.String(),
  userFilter: Type.String(),
  upnDomain: Type.String(),
  groupDn: Type.String(),
  groupAttribute: Type.String(),
  groupFilter: Type.String(),
  searchesGroupsAnonymously: Type.Boolean(),
  caseSensitiveNames: Type.Boolean(),
  usernameAsAlias: Type.Boolean(),
  token: tokenSettingsShape,
});
export type LdapConfig = Shaped<typeof ldapConfigShape>;

export const NEW_LDAP_CONFIG: LdapConfig = {
  urls: ['ldap://127.0.0.1'],
  startTls: false,
  insecureTls: false,
  caPem: '',
  tlsMinVersion: 'tls12',
  tlsMaxVersion: 'tls12',
  requestTimeoutSeconds: 10,
  connectionTimeoutSeconds: 5,
  bindDn: '',
  bindPassword: '',
  discoversDn: false,
  userDn: '',
  userAttribute: 'cn',
  userFilter: '({{.UserAttr}}={{.Username}})',
  upnDomain: '',
  groupDn: '',
  groupAttribute: 'cn',
  groupFilter: '(|(memberUid={{.Username}})(member={{.UserDN}})(uniqueMember={{.UserDN}}))',
  searchesGroupsAnonymously: false,
  caseSensitiveNames: false,
  usernameAsAlias: false,
  token: DEFAULT_TOKEN_SETTINGS,
};

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** @throws KeelsonError `request.invalid` naming the settings that contradict each other */
export const requireSoundConfig = (config: LdapConfig): LdapConfig => {
  if (TLS_VERSIONS.indexOf(config.tlsMinVersion) > TLS_VERSIONS.indexOf(config.tlsMaxVersion))
    refuse('tls_max_version must be greater than or equal to tls_min_version');
  if ((config.bindDn === '') !== (config.bindPassword === ''))
    refuse('binddn and bindpass need each other: a bind without a password proves nothing');
  if (config.startTls && config.urls.some((url) => url.startsWith('ldaps:')))
    refuse('starttls is for ldap:// URLs: ldaps:// has TLS from the beginning');
  return config;
};

/** Whether people are searched for before they bind, rather than their DN being made of their name. */
export const searchesPeople = ({ bindDn, discoversDn }: LdapConfig): boolean =>
  discoversDn || bindDn !== '';

/** Names of people and groups as the mount compares them. */
export const toMountName = ({ caseSensitiveNames }: LdapConfig, name: string): string =>
  caseSensitiveNames ? name : name.toLowerCase();

/**
 * One name for all spellings that some directory takes for the same (RFC 4518, and accents as Active Directory): by it
 * failed logins are counted, so that nobody has more guesses by writing a name in other ways.
 */
export const toCountedName = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]/gu, '')
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/\s+/g, ' ');
