/** `users` and `groups`: policies and further groups of people in the directory. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import { field } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { namedRoutes } from '../logins/named-routes.ts';
import { NEW_LDAP_CONFIG, toMountName } from './domain/ldap-config.ts';
import { isDirectoryName } from './domain/mapping.ts';
import { configSetting, groupMappingRecords, userMappingRecords } from './ldap-records.ts';

const TAG = 'ldap';
const LIST = { maxLength: 16_384 } as const;

const POLICIES = field.commaList({
  description: 'Policies of their tokens, in addition to those of the configuration.',
  ...LIST,
  check: (names) =>
    names.some((name) => name.trim().toLowerCase() === 'root')
      ? 'policies cannot contain "root": auth methods cannot create root tokens'
      : undefined,
});

const trimmed = (names: readonly string[]): string[] => [
  ...new Set(names.map((name) => name.trim()).filter((name) => name !== '')),
];

const lowered = (names: readonly string[]): string[] =>
  trimmed(names).map((name) => name.toLowerCase());

/** The name of a user or group as the mount compares it. @throws KeelsonError `request.invalid` */
export const nameAt = async (store: Store, mount: Mount, given: string): Promise<string> => {
  if (!isDirectoryName(given))
    throw new KeelsonError('request.invalid', {
      text: 'the name in the path has at most 256 characters, without control characters and slashes, and neither begins nor ends with a space',
    });
  return toMountName((await configSetting(mount).find(store)) ?? NEW_LDAP_CONFIG, given);
};

export const mappingRoutes = (store: Store): Route[] => {
  const keyAt = (mount: Mount, given: string) => nameAt(store, mount, given);
  return [
    ...namedRoutes({
      path: '/ldap/users',
      tag: TAG,
      noun: 'user',
      deletion: 'what the directory says about the person remains',
      store,
      recordsAt: userMappingRecords,
      keyAt,
      fields: {
        policies: POLICIES,
        groups: field.commaList({
          description: 'Groups in addition to those that the directory says.',
          ...LIST,
        }),
      },
      change: (before, { policies, groups }) => ({
        policies: lowered(policies ?? before?.policies ?? []),
        groups: trimmed(groups ?? before?.groups ?? []),
      }),
      document: ({ groups, policies }) => ({ groups: groups.join(','), policies }),
    }),
    ...namedRoutes({
      path: '/ldap/groups',
      tag: TAG,
      noun: 'group',
      deletion: 'its members no longer have its policies with their next login',
      store,
      recordsAt: groupMappingRecords,
      keyAt,
      fields: { policies: POLICIES },
      change: (before, { policies }) => ({ policies: lowered(policies ?? before?.policies ?? []) }),
      document: ({ policies }) => ({ policies }),
    }),
  ];
};
