/** Lists of projects, read from their projection. */
import type { Page } from '@keelson/jsonapi';
import type { Store } from '@keelson/storage';
import { projectRecords } from '../model/project-records.ts';
import type { TagFilter } from './workspace-listing.ts';
import { filledUp, likePart, ofKey, type Tables, withValue } from './workspace-selection.ts';

export interface ProjectQuery {
  readonly organizationId: string;
  /** Ids to which the result is limited; undefined means all of the organization. */
  readonly among?: readonly string[] | undefined;
  /** Names, ignoring case; undefined means any. */
  readonly names?: readonly string[] | undefined;
  /** Part of the name, ignoring case. */
  readonly search?: string | undefined;
  /** Bindings that the project must have: all of them, or for a union at least one. */
  readonly tagged: readonly TagFilter[];
  readonly isTagUnion: boolean;
  readonly isDescending: boolean;
  readonly page: Page;
}

export interface ProjectMatches {
  /** Ids of the page, by name. */
  readonly ids: readonly string[];
  readonly totalCount: number;
}

const toPaths = (ids: readonly string[]): readonly string[] =>
  filledUp(ids.map((id) => projectRecords.prefix + id));

/** If more projects than this contain a part of a name, the list reads the names in order instead. */
const FEW = 2000;

const selectProjects = (
  tables: Tables,
  { organizationId, among, names, search, tagged, isTagUnion }: ProjectQuery,
  named: readonly string[] | undefined,
) => {
  let rows = tables.selectFrom('project').where('project.organization_id', '=', organizationId);
  if (among !== undefined) rows = rows.where('project.record_path', 'in', toPaths(among));
  if (named !== undefined) rows = rows.where('project.record_path', 'in', toPaths(named));
  else if (search) rows = rows.where('project.name_lower', 'like', likePart(search));
  if (names !== undefined) {
    const lower = names.map((name) => name.toLowerCase());
    rows = rows.where('project.name_lower', 'in', filledUp(lower));
  }
  if (tagged.length === 0) return rows;
  return rows.where((row) => {
    const conditions = tagged.map((filter) =>
      row.exists(
        row
          .selectFrom('project_tag')
          .select('project_tag.project_id')
          .whereRef('project_tag.project_id', '=', 'project.id')
          .where('project_tag.organization_id', '=', organizationId)
          .where(ofKey('project_tag', filter))
          .where(withValue('project_tag', filter)),
      ),
    );
    return isTagUnion ? row.or(conditions) : row.and(conditions);
  });
};

/**
 * Ids of the projects whose names contain the text, from the trigram index; undefined when there are many.
 */
const findNamed = async (
  store: Pick<Store, 'findByPart'>,
  { organizationId: scope, search }: ProjectQuery,
): Promise<readonly string[] | undefined> =>
  search
    ? store.findByPart('project', { scope, part: search.toLowerCase(), limit: FEW })
    : undefined;

export const findProjects = async (
  store: Pick<Store, 'select' | 'findByPart'>,
  query: ProjectQuery,
): Promise<ProjectMatches> => {
  const { among, isDescending, page } = query;
  const named = await findNamed(store, query);
  if (among?.length === 0 || named?.length === 0) return { ids: [], totalCount: 0 };
  const [counted] = await store.select((tables: Tables) =>
    selectProjects(tables, query, named).select((row) =>
      row.fn.countAll<number | bigint>().as('matches'),
    ),
  );
  const rows = await store.select((tables: Tables) =>
    selectProjects(tables, query, named)
      .select('project.id as id')
      .orderBy('project.name', isDescending ? 'desc' : 'asc')
      .limit(page.size)
      .offset((page.number - 1) * page.size),
  );
  return { ids: rows.map(({ id }) => id), totalCount: Number(counted?.matches ?? 0) };
};

/** Number of projects of the organization. */
export const countProjects = async (
  store: Pick<Store, 'tallies'>,
  organizationId: string,
): Promise<number> => (await store.tallies('project', [organizationId]))[0] ?? 0;

/** Ids of the organization's projects that bind the key, with this value if one is given. */
export const findProjectsBinding = async (
  store: Pick<Store, 'select'>,
  organizationId: string,
  filter: TagFilter,
): Promise<readonly string[]> => {
  const rows = await store.select((tables: Tables) => {
    const found = tables
      .selectFrom('project_tag')
      .select('project_id')
      .where('organization_id', '=', organizationId)
      .where(ofKey('project_tag', filter));
    const { value } = filter;
    return value === undefined ? found : found.where('tag_value', '=', value);
  });
  return rows.map(({ project_id }) => project_id);
};
