/** `identity/group` and `identity/lookup/group`. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import {
  type FieldValues,
  field,
  type OperationContext,
  secretsRoutes,
} from '@keelson/secrets-api';
import { groupDocument, groupListDocument } from './group-document.ts';
import {
  deleteGroup,
  type GroupName,
  listAllGroups,
  putGroup,
  readGroup,
  readGroupByName,
  readGroupOfAlias,
  type ShownGroup,
} from './group-operations.ts';
import type { IdentityContext } from './identity-context.ts';

const TAG = 'identity';
const MAX_TEXT = 512;
const MAX_POLICIES = 16_384;
/** 5,000 ids. */
const MAX_IDS = 180_000;

const SETTINGS = {
  type: field.string({ description: '"internal" or "external"; fixed when it is created.' }),
  metadata: field.stringMap({ description: 'Metadata: returned only.' }),
  policies: field.commaList({
    description: 'Policies of the tokens of all members.',
    maxLength: MAX_POLICIES,
  }),
  member_entity_ids: field.commaList({
    description: 'Ids of the entities of an internal group.',
    maxLength: MAX_IDS,
  }),
  member_group_ids: field.commaList({
    description: 'Ids of the groups whose members are members as well.',
    maxLength: MAX_IDS,
  }),
} as const;

const ID = field.string({ description: 'Id of the group.', maxLength: MAX_TEXT });
const NAME = field.string({ description: 'Name of the group.', maxLength: MAX_TEXT });

const put = async (
  context: IdentityContext,
  { namespace, fields }: OperationContext<FieldValues<typeof SETTINGS>>,
  named: GroupName,
) => {
  const { id, name } = await putGroup(context, namespace.id, named, fields);
  return { data: { id, name } };
};

const show = async ({ mounts }: IdentityContext, found: ShownGroup | undefined) =>
  found && { data: groupDocument(found, await mounts()) };

const listRoutes = (context: IdentityContext, by: 'id' | 'name'): Route[] =>
  secretsRoutes({
    path: `/identity/group/${by}`,
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: `List groups by their ${by}s`,
        handle: async ({ namespace }) => {
          const groups = await listAllGroups(context, namespace.id);
          return { data: groupListDocument(groups, await context.mounts(), by) };
        },
      },
    },
  });

const memberRoutes = (context: IdentityContext): Route[] => [
  ...secretsRoutes({
    path: '/identity/group/id/:id',
    tag: TAG,
    hasSettings: true,
    fields: { id: ID, name: NAME, ...SETTINGS },
    operations: {
      read: {
        summary: 'Read a group',
        handle: async ({ namespace, fields: { id = '' } }) =>
          show(context, await readGroup(context, namespace.id, id)),
      },
      update: {
        summary: 'Change a group; parameters that are not given stay as they are',
        handle: (exchange) => put(context, exchange, exchange.fields),
      },
      delete: {
        summary: 'Delete a group with its alias',
        handle: async ({ namespace, fields: { id = '' } }) => {
          await deleteGroup(context, namespace.id, { id, name: undefined });
          return undefined;
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/identity/group/name/:name',
    tag: TAG,
    hasSettings: true,
    fields: { name: NAME, ...SETTINGS },
    operations: {
      read: {
        summary: 'Read a group by its name',
        handle: async ({ namespace, fields: { name = '' } }) =>
          show(context, await readGroupByName(context, namespace.id, name)),
      },
      update: {
        summary: 'Create a group or change it; parameters that are not given stay as they are',
        handle: (exchange) => put(context, exchange, { id: undefined, name: exchange.fields.name }),
      },
      delete: {
        summary: 'Delete a group with its alias',
        handle: async ({ namespace, fields: { name } }) => {
          await deleteGroup(context, namespace.id, { id: undefined, name });
          return undefined;
        },
      },
    },
  }),
];

const collectionRoutes = (context: IdentityContext): Route[] =>
  secretsRoutes({
    path: '/identity/group',
    tag: TAG,
    fields: { id: ID, name: NAME, ...SETTINGS },
    operations: {
      update: {
        summary: 'Create a group, or change the one that the id or name is of',
        handle: (exchange) => put(context, exchange, exchange.fields),
      },
    },
  });

const LOOKUP = {
  id: ID,
  name: NAME,
  alias_id: field.string({ description: 'Id of the alias of the group.', maxLength: MAX_TEXT }),
  alias_name: field.string({
    description: 'Name of the alias of the group, with alias_mount_accessor.',
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
): Promise<ShownGroup | undefined> => {
  const { id, name, alias_id, alias_name, alias_mount_accessor } = fields;
  if (id !== undefined) return readGroup(context, namespace.id, id);
  if (name !== undefined) return readGroupByName(context, namespace.id, name);
  if (alias_id !== undefined) return readGroupOfAlias(context, namespace.id, { id: alias_id });
  if (alias_name === undefined || alias_mount_accessor === undefined)
    throw new KeelsonError('request.invalid', {
      text: 'id, name, alias_id, or alias_name and alias_mount_accessor together must be given',
    });
  return readGroupOfAlias(context, namespace.id, {
    name: alias_name,
    mountAccessor: alias_mount_accessor,
  });
};

const lookupRoutes = (context: IdentityContext): Route[] =>
  secretsRoutes({
    path: '/identity/lookup/group',
    tag: TAG,
    fields: LOOKUP,
    operations: {
      update: {
        summary: 'Look up a group; 204 if there is none',
        handle: async (exchange) => show(context, await lookUp(context, exchange)),
      },
    },
  });

export const groupRoutes = (context: IdentityContext): Route[] => [
  ...collectionRoutes(context),
  ...listRoutes(context, 'id'),
  ...listRoutes(context, 'name'),
  ...memberRoutes(context),
  ...lookupRoutes(context),
];
