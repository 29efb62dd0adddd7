/** The flat tags of an organization, collected from the bindings of its workspaces. */
import type { Store } from '@keelson/storage';
import { workspaceRecords } from '../model/workspace-records.ts';
import type { OrganizationTag, TagListing, TagScope } from './workspace-listing.ts';
import {
  likePart,
  ofKey,
  onlyVisible,
  type Selection,
  type Tables,
} from './workspace-selection.ts';

const tagRows = (tables: Tables, { organizationId, visible }: TagScope) => {
  const rows = tables
    .selectFrom('workspace_tag')
    .select((row) => [
      'tag_id',
      'tag_key',
      row.fn.min('created_at').as('created_at'),
      row.fn.countAll<number | bigint>().as('instances'),
    ])
    .where('organization_id', '=', organizationId)
    .where('tag_id', 'is not', null)
    .groupBy(['tag_id', 'tag_key']);
  if (visible === undefined) return rows;
  const carriers = onlyVisible(tables.selectFrom('workspace') as Selection, visible, true);
  return rows.where('record_path', 'in', carriers.select('workspace.record_path'));
};

export const createTagListing = (store: Pick<Store, 'select'>): TagListing => {
  const selectTags = async (
    build: (tables: Tables) => ReturnType<typeof tagRows>,
  ): Promise<readonly OrganizationTag[]> => {
    const rows = await store.select(build);
    return rows.map((row) => ({
      id: row.tag_id ?? '',
      name: row.tag_key,
      createdAtMs: Number(row.created_at),
      instanceCount: Number(row.instances),
    }));
  };

  return {
    findTags: (scope, names) =>
      names.length === 0
        ? Promise.resolve([])
        : selectTags((tables) =>
            tagRows(tables, scope)
              .where(
                'tag_key_lower',
                'in',
                names.map((name) => name.toLowerCase()),
              )
              .where('tag_key', 'in', names),
          ),
    listTags: (scope, { nameContains, notOnWorkspaceId }) =>
      selectTags((tables) => {
        let rows = tagRows(tables, scope);
        if (nameContains) rows = rows.where('tag_key', 'like', likePart(nameContains));
        if (notOnWorkspaceId) {
          rows = rows.where((tag) =>
            tag(
              'tag_key',
              'not in',
              tag
                .selectFrom('workspace_tag as carried')
                .select('carried.tag_key')
                .where('carried.record_path', '=', workspaceRecords.path(notOnWorkspaceId)),
            ),
          );
        }
        return rows.orderBy('tag_key');
      }),
    findTagCarriers: async (organizationId, name) => {
      const carriers = await store.select((tables: Tables) =>
        tables
          .selectFrom('workspace_tag')
          .select('workspace_id')
          .where('organization_id', '=', organizationId)
          .where(ofKey('workspace_tag', { key: name }))
          .where('tag_id', 'is not', null),
      );
      return carriers.map(({ workspace_id }) => workspace_id);
    },
    findTagById: async (scope, tagId) => {
      const [tag] = await selectTags((tables) =>
        tagRows(tables, scope).where('tag_id', '=', tagId),
      );
      return tag;
    },
  };
};
