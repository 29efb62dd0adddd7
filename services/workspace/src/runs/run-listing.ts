/** Lists of runs, newest first. */
import type { Page } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Store } from '@keelson/storage';
import type { Kysely, SelectQueryBuilder } from 'kysely';
import { requireOrganization, requireWorkspace } from '../access/access-operations.ts';
import type { ServiceContext } from '../service-context.ts';
import { loadVisible } from '../workspaces/workspace-list-operations.ts';
import type { WorkspaceQuery } from '../workspaces/workspace-listing.ts';
import type { WorkspaceTables } from '../workspaces/workspace-projections.ts';
import type { Run } from './domain/run.ts';
import type { RunTables } from './run-projections.ts';
import { runRecords } from './run-records.ts';

export interface RunFilter {
  /** Empty: any. */
  readonly statuses: readonly string[];
  readonly sources: readonly string[];
  /** Empty: all but those that plan only. */
  readonly operations: readonly string[];
}

export interface RunPage {
  readonly runs: readonly Run[];
  readonly totalCount: number;
}

type Tables = RunTables & WorkspaceTables;
type Selection = SelectQueryBuilder<Tables, 'run', object>;

const matching = (selection: Selection, filter: RunFilter): Selection => {
  const { statuses, sources, operations } = filter;
  let found = selection;
  if (statuses.length > 0) found = found.where('run.status', 'in', statuses);
  if (sources.length > 0) found = found.where('run.source', 'in', sources);
  return operations.length > 0
    ? found.where('run.operation', 'in', operations)
    : found.where('run.operation', '!=', 'plan_only');
};

const loadPage = async (
  store: Store,
  select: (tables: Kysely<Tables>) => Selection,
  { number, size }: Page,
): Promise<RunPage> => {
  const [counted] = await store.select((tables: Kysely<Tables>) =>
    select(tables).select((rows) => rows.fn.countAll<number | bigint>().as('runs')),
  );
  const rows = await store.select((tables: Kysely<Tables>) =>
    select(tables)
      .select('run.id as id')
      .orderBy('run.created_at', 'desc')
      .orderBy('run.id', 'desc')
      .limit(size)
      .offset((number - 1) * size),
  );
  const runs = await Promise.all(rows.map(({ id }) => runRecords.find(store, id)));
  return {
    runs: runs.filter((run) => run !== undefined),
    totalCount: Number(counted?.runs ?? 0),
  };
};

export const listWorkspaceRuns = async (
  { store }: ServiceContext,
  principal: Principal,
  workspaceId: string,
  filter: RunFilter,
  page: Page,
): Promise<RunPage> => {
  await requireWorkspace(store, principal, { workspaceId }, 'canReadRun');
  const select = (tables: Kysely<Tables>) =>
    matching(tables.selectFrom('run').where('run.workspace_id', '=', workspaceId), filter);
  return loadPage(store, select, page);
};

const onlyVisible = (selection: Selection, visible: WorkspaceQuery['visible']): Selection =>
  visible === undefined
    ? selection
    : selection.where((rows) =>
        rows(
          'run.workspace_id',
          'in',
          rows
            .selectFrom('workspace')
            .select('workspace.id')
            .where((workspaces) =>
              workspaces.or([
                ...(visible.projectIds.length > 0
                  ? [workspaces('workspace.project_id', 'in', visible.projectIds)]
                  : []),
                ...(visible.workspaceIds.length > 0
                  ? [workspaces('workspace.id', 'in', visible.workspaceIds)]
                  : []),
              ]),
            ),
        ),
      );

/** Runs of all workspaces that the caller sees. */
export const listOrganizationRuns = async (
  { store }: ServiceContext,
  principal: Principal,
  organizationName: string,
  filter: RunFilter,
  page: Page,
): Promise<RunPage> => {
  const { organization, standing } = await requireOrganization(store, principal, organizationName);
  const visible = await loadVisible(store, standing);
  const select = (tables: Kysely<Tables>) =>
    matching(
      onlyVisible(
        tables.selectFrom('run').where('run.organization_id', '=', organization.id),
        visible,
      ),
      filter,
    );
  return loadPage(store, select, page);
};
