/** `identity/group-alias`. */
import type { Route } from '@keelson/edge';
import {
  type FieldValues,
  field,
  type OperationContext,
  secretsRoutes,
} from '@keelson/secrets-api';
import {
  deleteGroupAlias,
  listAllGroupAliases,
  putGroupAlias,
  readGroupAlias,
} from './group-alias-operations.ts';
import { groupAliasDocument, groupAliasListDocument } from './group-document.ts';
import type { IdentityContext } from './identity-context.ts';

const TAG = 'identity';
const MAX_TEXT = 512;

const FIELDS = {
  id: field.string({ description: 'Id of the alias.', maxLength: MAX_TEXT }),
  name: field.string({
    description: 'Name by which the method reports the group.',
    maxLength: MAX_TEXT,
  }),
  mount_accessor: field.string({
    description: 'Accessor of the mount of an auth method.',
    maxLength: MAX_TEXT,
  }),
  canonical_id: field.string({ description: 'Id of an external group.', maxLength: MAX_TEXT }),
} as const;

const put = async (
  context: IdentityContext,
  { namespace, fields }: OperationContext<FieldValues<typeof FIELDS>>,
) => {
  const alias = await putGroupAlias(context, namespace.id, {
    id: fields.id,
    name: fields.name,
    mountAccessor: fields.mount_accessor,
    groupId: fields.canonical_id,
  });
  return { data: { canonical_id: alias.groupId, id: alias.id } };
};

export const groupAliasRoutes = (context: IdentityContext): Route[] => [
  ...secretsRoutes({
    path: '/identity/group-alias',
    tag: TAG,
    fields: FIELDS,
    operations: {
      update: {
        summary:
          'Create an alias of a group, or change the one of the id, or of the name and mount',
        handle: (exchange) => put(context, exchange),
      },
    },
  }),
  ...secretsRoutes({
    path: '/identity/group-alias/id',
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: 'List aliases of groups',
        handle: async ({ namespace }) => ({
          data: groupAliasListDocument(
            await listAllGroupAliases(context, namespace.id),
            await context.mounts(),
          ),
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: '/identity/group-alias/id/:id',
    tag: TAG,
    hasSettings: true,
    fields: FIELDS,
    operations: {
      read: {
        summary: 'Read an alias of a group',
        handle: async ({ namespace, fields: { id = '' } }) => {
          const alias = await readGroupAlias(context, namespace.id, id);
          return alias && { data: groupAliasDocument(alias, await context.mounts()) };
        },
      },
      update: {
        summary: 'Change an alias of a group; parameters that are not given stay as they are',
        handle: (exchange) => put(context, exchange),
      },
      delete: {
        summary: 'Delete an alias of a group, which loses its members',
        handle: async ({ namespace, fields: { id = '' } }) => {
          await deleteGroupAlias(context, namespace.id, id);
          return undefined;
        },
      },
    },
  }),
];
