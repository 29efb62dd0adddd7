/** `identity/group` and `identity/lookup/group`. */
import type { Route } from '@keelson/edge';
import { field } from '@keelson/secrets-api';
import { groupDocument, groupListDocument } from './group-document.ts';
import {
  deleteGroup,
  listAllGroups,
  putGroup,
  readGroup,
  readGroupByName,
  readGroupOfAlias,
  type ShownGroup,
} from './group-operations.ts';
import type { IdentityContext } from './identity-context.ts';
import { namedRoutes } from './named-routes.ts';

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

export const groupRoutes = (context: IdentityContext): Route[] => {
  const show = async (found: Promise<ShownGroup | undefined>) => {
    const group = await found;
    return group && groupDocument(group, await context.mounts());
  };
  return namedRoutes({
    kind: 'group',
    words: { one: 'a group', all: 'groups', deletion: 'Delete a group with its alias' },
    settings: SETTINGS,
    put: async (namespaceId, named, settings) => {
      const { id, name } = await putGroup(context, namespaceId, named, settings);
      return { data: { id, name } };
    },
    read: (namespaceId, id) => show(readGroup(context, namespaceId, id)),
    readByName: (namespaceId, name) => show(readGroupByName(context, namespaceId, name)),
    readOfAlias: (namespaceId, alias) => show(readGroupOfAlias(context, namespaceId, alias)),
    remove: (namespaceId, named) => deleteGroup(context, namespaceId, named),
    list: async (namespaceId, by) =>
      groupListDocument(await listAllGroups(context, namespaceId), await context.mounts(), by),
  });
};
