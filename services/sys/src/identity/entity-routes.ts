/** `identity/entity` and `identity/lookup/entity`. */
import type { Route } from '@keelson/edge';
import { field, secretsRoutes } from '@keelson/secrets-api';
import { entityDocument, entityListDocument } from './entity-document.ts';
import {
  deleteEntity,
  listAllEntities,
  putEntity,
  readEntity,
  readEntityByName,
  readEntityOfAlias,
  type ShownEntity,
} from './entity-operations.ts';
import type { IdentityContext } from './identity-context.ts';
import { mergeEntities } from './merge-operations.ts';
import { MAX_TEXT, namedRoutes, TAG } from './named-routes.ts';

const MAX_LIST = 16_384;

const SETTINGS = {
  metadata: field.stringMap({ description: 'Metadata, for parameters of policies.' }),
  policies: field.commaList({
    description: 'Policies that its tokens have in addition to their own.',
    maxLength: MAX_LIST,
  }),
  disabled: field.bool({ description: 'Its tokens are refused, and it cannot sign in.' }),
} as const;

const ownRoutes = (context: IdentityContext): Route[] => {
  const show = async (found: Promise<ShownEntity | undefined>) => {
    const entity = await found;
    return entity && entityDocument(entity, await context.mounts());
  };
  return namedRoutes({
    kind: 'entity',
    words: {
      one: 'an entity',
      all: 'entities',
      deletion: 'Delete an entity with its aliases, which ends its tokens',
    },
    settings: SETTINGS,
    // 200 with the id of a new entity, and 204 after a change.
    put: async (namespaceId, named, settings) => {
      const { entity, isNew } = await putEntity(context, namespaceId, named, settings);
      return isNew ? { data: { aliases: null, id: entity.id, name: entity.name } } : undefined;
    },
    read: (namespaceId, id) => show(readEntity(context, namespaceId, id)),
    readByName: (namespaceId, name) => show(readEntityByName(context, namespaceId, name)),
    readOfAlias: (namespaceId, alias) => show(readEntityOfAlias(context, namespaceId, alias)),
    remove: (namespaceId, named) => deleteEntity(context, namespaceId, named),
    list: async (namespaceId, by) =>
      entityListDocument(await listAllEntities(context, namespaceId), await context.mounts(), by),
  });
};

const batchDeleteRoutes = (context: IdentityContext): Route[] =>
  secretsRoutes({
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
  });

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

export const entityRoutes = (context: IdentityContext): Route[] => [
  ...ownRoutes(context),
  ...batchDeleteRoutes(context),
  ...mergeRoutes(context),
];
