/** `ldap`: people sign in with their name and password in a directory. */
import type { Route } from '@keelson/edge';
import { type MountScope, NAME_FIELD, requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { AddressPolicy } from '@keelson/outbound/addresses';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import { field, type JsonObject, secretsRoutes } from '@keelson/secrets-api';
import { isInBound } from '../logins/bound-networks.ts';
import type { TokenSettings } from '../logins/domain/token-settings.ts';
import { type LockoutContext, lockoutsAt } from '../logins/lockout-operations.ts';
import { answerLogin, type Logins } from '../logins/login-operations.ts';
import type { AuthMethod } from '../method.ts';
import { RequestsUnderWay } from '../providers/under-way.ts';
import {
  type DirectoryContext,
  findPerson,
  type Person,
  verifyPerson,
} from './authentication-operations.ts';
import { configRoutes } from './config-routes.ts';
import { type LdapConfig, toCountedName, toMountName } from './domain/ldap-config.ts';
import { configSetting, groupMappingRecords, userMappingRecords } from './ldap-records.ts';
import { mappingRoutes, nameAt } from './mapping-routes.ts';

interface LdapParts extends LockoutContext {
  readonly logger: Logger;
  readonly logins: Logins;
  /** Says at which addresses directories may be. */
  readonly outboundPolicy: AddressPolicy;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const requireConfig = async ({ store }: LdapParts, mount: Mount): Promise<LdapConfig> =>
  (await configSetting(mount).find(store)) ?? refuse('ldap backend not configured');

interface Rights {
  readonly groups: readonly string[];
  readonly settings: TokenSettings;
}

/** Rights of somebody in these groups of the directory. */
const rightsOf = async (
  { store }: LdapParts,
  mount: MountScope,
  config: LdapConfig,
  username: string,
  ofDirectory: readonly string[],
): Promise<Rights> => {
  const user = await userMappingRecords(mount).find(store, toMountName(config, username));
  const groups = [...new Set([...(user?.groups ?? []), ...ofDirectory])];
  const keys = [...new Set(groups.map((group) => toMountName(config, group)))];
  const found = await Promise.all(keys.map((key) => groupMappingRecords(mount).find(store, key)));
  const policies = [
    ...config.token.policies,
    ...found.flatMap((group) => group?.policies ?? []),
    ...(user?.policies ?? []),
  ];
  return { groups, settings: { ...config.token, policies: [...new Set(policies)] } };
};

const loginRoutes = (parts: LdapParts, directory: DirectoryContext): Route[] =>
  secretsRoutes({
    path: '/ldap/login/:username',
    tag: 'ldap',
    fields: {
      username: NAME_FIELD,
      password: field.string({
        description: 'The password of the person in the directory.',
        default: '',
        maxLength: 1024,
      }),
    },
    operations: {
      update: {
        summary: 'Sign in with a name and password of the directory',
        handle: async (request) => {
          const mount = requireMount(request);
          const { username: given, password } = request.fields;
          const config = await requireConfig(parts, mount);
          if (!isInBound(config.token.boundCidrs, request.head.remoteAddress))
            throw new KeelsonError('sys.permission_denied');
          const username = await nameAt(parts.store, mount, given);
          if (password === '')
            refuse('password cannot be of zero length when passwordless binds are being denied');
          const verify = () => verifyPerson(directory, mount, config, { username, password });
          const counted = toCountedName(username);
          const person = await lockoutsAt(parts, mount).verifyUnlessLocked(counted, verify);
          if (person === undefined) return refuse('ldap operation failed: failed to bind as user');
          const { groups, settings } = await rightsOf(
            parts,
            mount,
            config,
            username,
            person.groups,
          );
          return answerLogin(parts.logins, request, {
            displayName: username,
            metadata: { username },
            alias: {
              name: person.aliasName,
              metadata: { name: username },
              groups,
            },
            settings,
            username,
            data: { user: username, ...knownGroups(config, person) },
          });
        },
      },
    },
  });

/** The groups of the login are stored where the directory cannot be asked again without the password. */
const knownGroups = ({ bindDn }: LdapConfig, { groups }: Person): JsonObject =>
  bindDn === '' ? { groups } : {};

const renewalGroups = async (
  directory: DirectoryContext,
  mount: MountScope,
  config: LdapConfig,
  { user, groups }: JsonObject,
): Promise<readonly string[] | undefined> =>
  config.bindDn === ''
    ? Array.isArray(groups)
      ? groups.map(String)
      : undefined
    : (await findPerson(directory, mount, config, String(user)))?.groups;

export const ldapMethod = (parts: LdapParts): AuthMethod => {
  const directory: DirectoryContext = {
    outboundPolicy: parts.outboundPolicy,
    underWay: new RequestsUnderWay(),
    logger: parts.logger,
  };
  return {
    type: 'ldap',
    unauthenticatedPaths: ['login/*'],
    toCountedName,
    routes: [
      ...loginRoutes(parts, directory),
      ...configRoutes(parts.store),
      ...mappingRoutes(parts.store),
    ],
    renew: async (mount, data) => {
      const config = await configSetting(mount).find(parts.store);
      if (config === undefined || typeof data['user'] !== 'string') return undefined;
      const groups = await renewalGroups(directory, mount, config, data);
      if (groups === undefined) return undefined;
      const rights = await rightsOf(parts, mount, config, data['user'], groups);
      // Without `binddn` the groups are those of this token's login, and a later login may have reported others.
      return config.bindDn === '' ? { settings: rights.settings } : rights;
    },
  };
};
