/** `identity/entity-alias`. */
import type { Route } from '@keelson/edge';
import {
  type FieldValues,
  field,
  type OperationContext,
  secretsRoutes,
} from '@keelson/secrets-api';
import { deleteAlias, listAllAliases, putAlias, readAlias } from './alias-operations.ts';
import { aliasDocument, aliasListDocument } from './entity-document.ts';
import type { IdentityContext } from './identity-context.ts';

const TAG = 'identity';
const MAX_TEXT = 512;

const FIELDS = {
  id: field.string({ description: 'Id of the alias.', maxLength: MAX_TEXT }),
  name: field.string({
    description: 'Name at the mount: of a user, or the id of a role.',
    maxLength: MAX_TEXT,
  }),
  mount_accessor: field.string({
    description: 'Accessor of the mount of an auth method.',
    maxLength: MAX_TEXT,
  }),
  canonical_id: field.string({
    description: 'Id of the entity; a new one if it is not given.',
    maxLength: MAX_TEXT,
  }),
  entity_id: field.string({ description: 'Older name of canonical_id.', maxLength: MAX_TEXT }),
  custom_metadata: field.stringMap({ description: 'Metadata: returned only.' }),
} as const;

const put = async (
  context: IdentityContext,
  { namespace, fields }: OperationContext<FieldValues<typeof FIELDS>>,
) => {
  const alias = await putAlias(context, namespace.id, {
    id: fields.id,
    name: fields.name,
    mountAccessor: fields.mount_accessor,
    entityId: fields.canonical_id ?? fields.entity_id,
    customMetadata: fields.custom_metadata,
  });
  return { data: { canonical_id: alias.entityId, id: alias.id } };
};

export const aliasRoutes = (context: IdentityContext): Route[] => [
  ...secretsRoutes({
    path: '/identity/entity-alias',
    tag: TAG,
    fields: FIELDS,
    operations: {
      update: {
        summary: 'Create an alias, or change the one of the id, or of the name and the mount',
        handle: (exchange) => put(context, exchange),
      },
    },
  }),
  ...secretsRoutes({
    path: '/identity/entity-alias/id',
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: 'List aliases',
        handle: async ({ namespace }) => ({
          data: aliasListDocument(
            await listAllAliases(context, namespace.id),
            await context.mounts(),
          ),
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: '/identity/entity-alias/id/:id',
    tag: TAG,
    hasSettings: true,
    fields: FIELDS,
    operations: {
      read: {
        summary: 'Read an alias',
        handle: async ({ namespace, fields: { id = '' } }) => {
          const alias = await readAlias(context, namespace.id, id);
          return alias && { data: aliasDocument(alias, await context.mounts()) };
        },
      },
      update: {
        summary: 'Change an alias; parameters that are not given stay as they are',
        handle: (exchange) => put(context, exchange),
      },
      delete: {
        summary: 'Delete an alias',
        handle: async ({ namespace, fields: { id = '' } }) => {
          await deleteAlias(context, namespace.id, id);
          return undefined;
        },
      },
    },
  }),
];
