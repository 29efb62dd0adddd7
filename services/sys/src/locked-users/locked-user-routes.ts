/** `sys/locked-users`. */
import type { Route } from '@keelson/edge';
import { field, type JsonObject, secretsRoutes } from '@keelson/secrets-api';
import {
  type LockedUserContext,
  type LockedUsersOfNamespace,
  listLockedUsers,
  unlockUser,
} from './locked-user-operations.ts';

const lockedUsersDocument = (listed: readonly LockedUsersOfNamespace[]): JsonObject => {
  const byNamespace = listed.map(({ namespace, mounts }) => ({
    namespace_id: namespace.id,
    namespace_path: namespace.path,
    counts: mounts.reduce((sum, { aliasNames }) => sum + aliasNames.length, 0),
    mount_accessors: mounts.map(({ accessor, aliasNames }) => ({
      mount_accessor: accessor,
      counts: aliasNames.length,
      alias_identifiers: aliasNames,
    })),
  }));
  return {
    by_namespace: byNamespace,
    total: byNamespace.reduce((sum, { counts }) => sum + counts, 0),
  };
};

export const lockedUserRoutes = (context: LockedUserContext): Route[] => [
  ...secretsRoutes({
    path: '/sys/locked-users',
    tag: 'locked-users',
    fields: {
      mount_accessor: field.string({
        description:
          'Accessor of a mount of the namespace; those of all namespaces below if absent.',
        default: '',
        maxLength: 256,
      }),
    },
    operations: {
      read: {
        summary: 'List the users that failed logins have locked.',
        handle: async ({ fields, namespace }) => ({
          data: lockedUsersDocument(
            await listLockedUsers(context, namespace, fields.mount_accessor),
          ),
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/locked-users/:mount_accessor/unlock/:alias_identifier',
    tag: 'locked-users',
    fields: {
      mount_accessor: field.string({ description: 'Accessor of the mount.', required: true }),
      alias_identifier: field.string({
        description: 'Name of the alias: the user name, or the role id of approle.',
        required: true,
        maxLength: 1024,
      }),
    },
    operations: {
      update: {
        summary: 'Unlock a user.',
        handle: async ({ fields, namespace }) => {
          const { mount_accessor: accessor, alias_identifier: aliasName } = fields;
          await unlockUser(context, namespace.id, accessor, aliasName);
          return undefined;
        },
      },
    },
  }),
];
