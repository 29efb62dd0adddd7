/** `config`: the directory whose people sign in. */
import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { type FieldValues, field, type JsonObject, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import {
  changedTokenSettings,
  olderTokenDocument,
  TOKEN_FIELDS,
  tokenSettingsDocument,
} from '../logins/token-fields.ts';
import { certificatesField } from '../providers/provider-fields.ts';
import { filterComplaint } from './directory-names.ts';
import {
  type LdapConfig,
  NEW_LDAP_CONFIG,
  requireSoundConfig,
  searchesPeople,
  TLS_VERSIONS,
} from './domain/ldap-config.ts';
import { configSetting } from './ldap-records.ts';

const MAX_URLS = 8;
const MAX_SECONDS = 30;
const NAME = { maxLength: 2048 } as const;

const isUrl = (text: string): boolean =>
  URL.canParse(text) && /^ldaps?:\/\/[^/?#@\s]+\/?$/.test(text);

const timeField = (name: string, description: string) =>
  field.durationSeconds({
    description,
    check: (seconds) =>
      seconds < 1 || seconds > MAX_SECONDS
        ? `${name} must be between 1 and ${MAX_SECONDS} seconds`
        : undefined,
  });

const tlsField = (name: string, description: string) =>
  field.string({
    description,
    maxLength: 8,
    check: (given) =>
      TLS_VERSIONS.some((version) => version === given)
        ? undefined
        : `invalid '${name}': must be one of ${TLS_VERSIONS.join(', ')}`,
  });

const attributeField = (name: string, description: string) =>
  field.string({
    description,
    maxLength: 256,
    check: (given) =>
      /^[A-Za-z][\w.;-]*$/.test(given) ? undefined : `${name} must be the name of an attribute`,
  });

const CONFIG_FIELDS = {
  url: field.commaList({
    description: 'URLs of the servers, ldap:// or ldaps://, tried in this order.',
    ...NAME,
    check: (urls) =>
      urls.length > 0 && urls.length <= MAX_URLS && urls.every(isUrl)
        ? undefined
        : `url must be 1 to ${MAX_URLS} ldap:// or ldaps:// URLs with a host alone`,
  }),
  starttls: field.bool({ description: 'Whether an ldap:// connection continues with TLS.' }),
  insecure_tls: field.bool({ description: 'Accept any certificate. For tests only.' }),
  certificate: { ...certificatesField('certificate'), required: false },
  tls_min_version: tlsField('tls_min_version', 'Oldest version of TLS (default tls12).'),
  tls_max_version: tlsField('tls_max_version', 'Newest version of TLS (default tls12).'),
  request_timeout: timeField('request_timeout', 'Time for all questions of a login (default 10).'),
  connection_timeout: timeField(
    'connection_timeout',
    'Time to connect to a server before the next one is tried (default 5).',
  ),
  binddn: field.string({ description: 'Account that searches for people.', ...NAME }),
  bindpass: field.string({ description: 'Its password, which is never shown.', maxLength: 1024 }),
  discoverdn: field.bool({ description: 'Search for people anonymously if there is no binddn.' }),
  userdn: field.string({ description: 'Below which people are.', ...NAME }),
  userattr: attributeField('userattr', 'Attribute that names people (default cn).'),
  userfilter: field.string({
    description: `Filter that finds one person (default ${NEW_LDAP_CONFIG.userFilter}).`,
    maxLength: 4096,
  }),
  upndomain: field.string({
    description: 'People bind as user name@domain, as in Active Directory.',
    maxLength: 256,
    check: (given) =>
      /^[\w.-]*$/.test(given) ? undefined : 'upndomain must be the name of a domain',
  }),
  groupdn: field.string({ description: 'Below which groups are; no groups if empty.', ...NAME }),
  groupattr: attributeField('groupattr', 'Attribute that names groups (default cn).'),
  groupfilter: field.string({
    description: `Filter that finds the groups of a person (default ${NEW_LDAP_CONFIG.groupFilter}).`,
    maxLength: 4096,
  }),
  anonymous_group_search: field.bool({ description: 'Search for groups without an account.' }),
  case_sensitive_names: field.bool({
    description: 'Whether names of users and groups that differ in case are different.',
  }),
  username_as_alias: field.bool({
    description: 'Whether the name of the login, rather than the value of userattr, is the alias.',
  }),
  deny_null_bind: field.bool({
    description: 'Always true: a login without a password is refused.',
  }),
  use_token_groups: field.bool({
    description: 'False only: groups are searched for.',
    check: (isOn) =>
      isOn
        ? 'use_token_groups is not supported: groups are found by groupfilter, which may ask for memberships of memberships'
        : undefined,
  }),
  ...TOKEN_FIELDS,
} as const;

type Given = FieldValues<typeof CONFIG_FIELDS>;

const tlsVersionOf = (given: string | undefined) =>
  TLS_VERSIONS.find((version) => version === given);

const connectionOf = (given: Given, before: LdapConfig) => ({
  urls: [...(given.url ?? before.urls)],
  startTls: given.starttls ?? before.startTls,
  insecureTls: given.insecure_tls ?? before.insecureTls,
  caPem: given.certificate ?? before.caPem,
  tlsMinVersion: tlsVersionOf(given.tls_min_version) ?? before.tlsMinVersion,
  tlsMaxVersion: tlsVersionOf(given.tls_max_version) ?? before.tlsMaxVersion,
  requestTimeoutSeconds: given.request_timeout ?? before.requestTimeoutSeconds,
  connectionTimeoutSeconds: given.connection_timeout ?? before.connectionTimeoutSeconds,
  bindDn: given.binddn ?? before.bindDn,
  bindPassword: given.bindpass ?? before.bindPassword,
});

const searchesOf = (given: Given, before: LdapConfig) => ({
  discoversDn: given.discoverdn ?? before.discoversDn,
  userDn: given.userdn ?? before.userDn,
  userAttribute: given.userattr ?? before.userAttribute,
  userFilter: given.userfilter ?? before.userFilter,
  upnDomain: given.upndomain ?? before.upnDomain,
  groupDn: given.groupdn ?? before.groupDn,
  groupAttribute: given.groupattr ?? before.groupAttribute,
  groupFilter: given.groupfilter ?? before.groupFilter,
  searchesGroupsAnonymously: given.anonymous_group_search ?? before.searchesGroupsAnonymously,
});

const changedConfig = (given: Given, before: LdapConfig): LdapConfig =>
  requireSoundConfig({
    ...connectionOf(given, before),
    ...searchesOf(given, before),
    caseSensitiveNames: given.case_sensitive_names ?? before.caseSensitiveNames,
    usernameAsAlias: given.username_as_alias ?? before.usernameAsAlias,
    token: changedTokenSettings(before.token, given),
  });

const configDocument = (config: LdapConfig): JsonObject => ({
  url: config.urls.join(','),
  starttls: config.startTls,
  insecure_tls: config.insecureTls,
  certificate: config.caPem,
  tls_min_version: config.tlsMinVersion,
  tls_max_version: config.tlsMaxVersion,
  request_timeout: config.requestTimeoutSeconds,
  connection_timeout: config.connectionTimeoutSeconds,
  binddn: config.bindDn,
  discoverdn: config.discoversDn,
  userdn: config.userDn,
  userattr: config.userAttribute,
  userfilter: config.userFilter,
  upndomain: config.upnDomain,
  groupdn: config.groupDn,
  groupattr: config.groupAttribute,
  groupfilter: config.groupFilter,
  anonymous_group_search: config.searchesGroupsAnonymously,
  case_sensitive_names: config.caseSensitiveNames,
  username_as_alias: config.usernameAsAlias,
  deny_null_bind: true,
  use_token_groups: false,
  ...tokenSettingsDocument(config.token),
  ...olderTokenDocument(config.token, ['policies', 'period']),
});

const requireFilters = async ({ userfilter, groupfilter }: Given): Promise<void> => {
  for (const [name, template] of Object.entries({ userfilter, groupfilter } as const)) {
    if (template === undefined) continue;
    const text = await filterComplaint(name as 'userfilter' | 'groupfilter', template);
    if (text !== undefined) throw new KeelsonError('request.invalid', { text });
  }
};

const warningsAbout = (config: LdapConfig, { deny_null_bind }: Given): readonly string[] => [
  ...(config.urls.some((url) => url.startsWith('ldap:')) && !config.startTls
    ? ['Passwords are sent without TLS: whoever can read the connection learns them.']
    : []),
  ...(config.insecureTls
    ? ['insecure_tls accepts every certificate: whoever can change the connection can sign in.']
    : []),
  ...(searchesPeople(config) && !/\{\{\s*\.UserAttr\s*\}\}/.test(config.userFilter)
    ? ['userfilter does not compare userattr: logins under several names may have one alias.']
    : []),
  ...(deny_null_bind === false
    ? ['deny_null_bind has no effect: a login without a password is always refused']
    : []),
];

export const configRoutes = (store: Store): Route[] =>
  secretsRoutes({
    path: '/ldap/config',
    tag: 'ldap',
    hasSettings: true,
    fields: CONFIG_FIELDS,
    operations: {
      read: {
        summary: 'Read the directory whose people sign in',
        handle: async (request) => {
          const config = await configSetting(requireMount(request)).find(store);
          return config && { data: configDocument(config) };
        },
      },
      update: {
        summary:
          'Set the directory whose people sign in; parameters that are not given stay as they are',
        handle: async (request) => {
          const { fields } = request;
          await requireFilters(fields);
          const setting = configSetting(requireMount(request));
          const config = await store.transact(async (tx) => {
            const changed = changedConfig(fields, (await setting.find(tx)) ?? NEW_LDAP_CONFIG);
            setting.write(tx, changed);
            return changed;
          });
          request.warnings.push(...warningsAbout(config, fields));
          return undefined;
        },
      },
    },
  });
