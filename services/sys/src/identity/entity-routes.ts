/** `identity/entity` and `identity/lookup/entity`. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import {
  type FieldValues,
  field,
  type OperationContext,
  secretsRoutes,
} from '@keelson/secrets-api';
import { entityDocument, entityListDocument } from './entity-document.ts';
import {
  deleteEntity,
  type EntityName,
  listAllEntities,
  putEntity,
  readEntity,
  readEntityByName,
  readEntityOfAlias,
  type ShownEntity,
} from './entity-operations.ts';
import type { IdentityContext } from './identity-context.ts';
import { mergeEntities } from './merge-operations.ts';

const TAG = 'identity';
const MAX_TEXT = 512;
const MAX_LIST = 16_384;

const SETTINGS = {
  metadata: field.stringMap({ description: 'Metadata, for parameters of policies.' }),
  policies: field.commaList({
    description: 'Policies that its tokens have in addition to their own.',
    maxLength: MAX_LIST,
  }),
  disabled: field.bool({ description: 'Its tokens are refused, and it cannot sign in.' }),
} as const;

const ID = field.string({ description: 'Id of the entity.', maxLength: MAX_TEXT });
const NAME = field.string({ description: 'Name of the entity.', maxLength: MAX_TEXT });

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

type Exchange = OperationContext<FieldValues<typeof SETTINGS>>;

/** 200 with the id of a new entity, and 204 after a change. */
const put = async (
  context: IdentityContext,
  { namespace, fields }: Exchange,
  named: EntityName,
) => {
  const { entity, isNew } = await putEntity(context, namespace.id, named, fields);
  return isNew ? { data: { aliases: null, id: entity.id, name: entity.name } } : undefined;
};

const show = async ({ mounts }: IdentityContext, found: ShownEntity | undefined) =>
  found && { data: entityDocument(found, await mounts()) };

const listRoutes = (context: IdentityContext, by: 'id' | 'name'): Route[] =>
  secretsRoutes({
    path: `/identity/entity/${by}`,
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: `List entities by their ${by}s`,
        handle: async ({ namespace }) => {
          const entities = await listAllEntities(context, namespace.id);
          return { data: entityListDocument(entities, await context.mounts(), by) };
        },
      },
    },
  });

const memberRoutes = (context: IdentityContext): Route[] => [
  ...secretsRoutes({
    path: '/identity/entity/id/:id',
    tag: TAG,
    hasSettings: true,
    fields: { id: ID, name: NAME, ...SETTINGS },
    operations: {
      read: {
        summary: 'Read an entity',
        handle: async ({ namespace, fields: { id = '' } }) =>
          show(context, await readEntity(context, namespace.id, id)),
      },
      update: {
        summary: 'Change an entity; parameters that are not given stay as they are',
        handle: (exchange) => put(context, exchange, exchange.fields),
      },
      delete: {
        summary: 'Delete an entity with its aliases, which ends its tokens',
        handle: async ({ namespace, fields: { id = '' } }) => {
          await deleteEntity(context, namespace.id, { id, name: undefined });
          return undefined;
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/identity/entity/name/:name',
    tag: TAG,
    hasSettings: true,
    fields: { name: NAME, ...SETTINGS },
    operations: {
      read: {
        summary: 'Read an entity by its name',
        handle: async ({ namespace, fields: { name = '' } }) =>
          show(context, await readEntityByName(context, namespace.id, name)),
      },
      update: {
        summary: 'Create an entity or change it; parameters that are not given stay as they are',
        handle: (exchange) => put(context, exchange, { id: undefined, name: exchange.fields.name }),
      },
      delete: {
        summary: 'Delete an entity with its aliases, which ends its tokens',
        handle: async ({ namespace, fields: { name } }) => {
          await deleteEntity(context, namespace.id, { id: undefined, name });
          return undefined;
        },
      },
    },
  }),
];

const collectionRoutes = (context: IdentityContext): Route[] => [
  ...secretsRoutes({
    path: '/identity/entity',
    tag: TAG,
    fields: { id: ID, name: NAME, ...SETTINGS },
    operations: {
      update: {
        summary: 'Create an entity, or change the one that the id or name is of',
        handle: (exchange) => put(context, exchange, exchange.fields),
      },
    },
  }),
  ...secretsRoutes({
    path: '/identity/entity/batch-delete',
    tag: TAG,
    fields: {
      entity_ids: field.commaList({
        description: 'Ids of entities.',
        required: 'missing entity_ids',
        maxLength: MAX_LIST,
      }),
    },
    operations: {
      update: {
        summary: 'Delete entities with their aliases, which ends their tokens',
        handle: async ({ namespace, fields }) => {
          for (const id of fields.entity_ids)
            await deleteEntity(context, namespace.id, { id, name: undefined });
          return undefined;
        },
      },
    },
  }),
];

const mergeRoutes = (context: IdentityContext): Route[] =>
  secretsRoutes({
    path: '/identity/entity/merge',
    tag: TAG,
    fields: {
      from_entity_ids: field.commaList({
        description: 'Ids of the entities that end.',
        required: 'missing from_entity_ids',
        maxLength: MAX_LIST,
      }),
      to_entity_id: field.string({
        description: 'Id of the entity that remains.',
        required: 'missing to_entity_id',
        maxLength: MAX_TEXT,
      }),
      force: field.bool({
        description: 'Keep the alias of the remaining entity where several are at one mount.',
        default: false,
      }),
      conflicting_alias_ids_to_keep: field.commaList({
        description: 'Ids of the aliases to keep where several are at one mount.',
        default: [],
        maxLength: MAX_LIST,
      }),
    },
    operations: {
      update: {
        summary: 'Merge entities: tokens, aliases, policies, metadata and memberships',
        handle: async ({ namespace, fields }) => {
          await mergeEntities(context, namespace.id, {
            fromIds: fields.from_entity_ids,
            toId: fields.to_entity_id,
            force: fields.force,
            keptAliasIds: fields.conflicting_alias_ids_to_keep,
          });
          return undefined;
        },
      },
    },
  });

const LOOKUP = {
  id: ID,
  name: NAME,
  alias_id: field.string({ description: 'Id of an alias of the entity.', maxLength: MAX_TEXT }),
  alias_name: field.string({
    description: 'Name of an alias of the entity, with alias_mount_accessor.',
    maxLength: MAX_TEXT,
  }),
  alias_mount_accessor: field.string({
    description: 'Accessor of the mount of alias_name.',
    maxLength: MAX_TEXT,
  }),
} as const;

const lookUp = (
  context: IdentityContext,
  { namespace, fields }: OperationContext<FieldValues<typeof LOOKUP>>,
): Promise<ShownEntity | undefined> => {
  const { id, name, alias_id, alias_name, alias_mount_accessor } = fields;
  if (id !== undefined) return readEntity(context, namespace.id, id);
  if (name !== undefined) return readEntityByName(context, namespace.id, name);
  if (alias_id !== undefined) return readEntityOfAlias(context, namespace.id, { id: alias_id });
  if (alias_name === undefined || alias_mount_accessor === undefined)
    return refuse(
      'id, name, alias_id, or alias_name and alias_mount_accessor together must be given',
    );
  return readEntityOfAlias(context, namespace.id, {
    name: alias_name,
    mountAccessor: alias_mount_accessor,
  });
};

const lookupRoutes = (context: IdentityContext): Route[] =>
  secretsRoutes({
    path: '/identity/lookup/entity',
    tag: TAG,
    fields: LOOKUP,
    operations: {
      update: {
        summary: 'Look up an entity; 204 if there is none',
        handle: async (exchange) => show(context, await lookUp(context, exchange)),
      },
    },
  });

export const entityRoutes = (context: IdentityContext): Route[] => [
  ...collectionRoutes(context),
  ...listRoutes(context, 'id'),
  ...listRoutes(context, 'name'),
  ...memberRoutes(context),
  ...mergeRoutes(context),
  ...lookupRoutes(context),
];
