/** Lists of runs, newest first. */
import type { Page } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { readableOnly, type Store } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { requireOrganization } from '../../identity/access/organization-access-operations.ts';
import { requireWorkspace } from '../../workspaces/access/access-operations.ts';
import { loadVisible } from '../../workspaces/listing/visible-scope.ts';
import type { WorkspaceQuery } from '../../workspaces/listing/workspace-listing.ts';
import { column } from '../../workspaces/listing/workspace-selection.ts';
import type { Run } from '../model/domain/run.ts';
import { runRecords } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import {
  isNarrow,
  matching,
  type ResolvedFilter,
  type RunFilter,
  type RunListTables,
  type RunSelection,
  resolveFilter,
} from './run-filter.ts';
import { listedKey } from './run-projections.ts';

export interface RunPage {
  readonly runs: readonly Run[];
  readonly totalCount: number;
}

type Tables = RunListTables;
type Selection = RunSelection;

type Order = 'newest' | 'newest of one workspace' | 'queue';

const ORDERS: Readonly<Record<Order, (selection: Selection) => Selection>> = {
  newest: (selection) => selection.orderBy('run.made_order', 'desc').orderBy('run.id', 'desc'),
  'newest of one workspace': (selection) => selection.orderBy('run.number', 'desc'),
  // Runs that are being executed come before runs that wait.
  queue: (selection) =>
    selection
      .orderBy((rows) => rows.case().when('run.status', 'in', RUNNING).then(0).else(1).end())
      .orderBy('run.made_order')
      .orderBy('run.id'),
};

const countRuns = async (
  store: Store,
  select: (tables: Kysely<Tables>) => Selection,
): Promise<number> => {
  const [counted] = await store.select((tables: Kysely<Tables>) =>
    select(tables).select((rows) => rows.fn.countAll<number | bigint>().as('runs')),
  );
  return Number(counted?.runs ?? 0);
};

/** Total for an organization or a workspace from the tallies; undefined when no tally applies. */
const countListed = async (
  store: Store,
  ownerId: string,
  { statuses, ...filter }: ResolvedFilter,
): Promise<number | undefined> => {
  const { sources, operations, agentPoolIds, workspaceIds } = filter;
  const isMore =
    [sources, operations, agentPoolIds, workspaceIds].some((list) => list.length > 0) ||
    [filter.createdMs, filter.userId, filter.commit, filter.text].some(
      (condition) => condition !== undefined,
    );
  if (isMore) return undefined;
  const keys =
    statuses.length === 0
      ? [listedKey(ownerId)]
      : [...new Set(statuses)].map((status) => listedKey(ownerId, status));
  const counts = await store.tallies('run', keys);
  return counts.reduce((total, count) => total + count, 0);
};

/** @param known the total, if it is already known */
const loadPage = async (
  store: Store,
  select: (tables: Kysely<Tables>) => Selection,
  order: Order,
  { number, size }: Page,
  known?: number,
): Promise<RunPage> => {
  const totalCount = known ?? (await countRuns(store, select));
  const rows = await store.select((tables: Kysely<Tables>) =>
    ORDERS[order](select(tables))
      .select('run.id as id')
      .limit(size)
      .offset((number - 1) * size),
  );
  const runs = await Promise.all(rows.map(({ id }) => runRecords.find(readableOnly(store), id)));
  return {
    runs: runs.filter((run) => run !== undefined),
    totalCount,
  };
};

export const listWorkspaceRuns = async (
  context: RunsContext,
  principal: Principal,
  workspaceId: string,
  given: RunFilter,
  page: Page,
): Promise<RunPage> => {
  const { store } = context;
  const access = await requireWorkspace(store, principal, { workspaceId }, 'canReadRun');
  const filter = await resolveFilter(context, access.organization.id, given);
  const select = (tables: Kysely<Tables>) =>
    matching(
      tables
        .selectFrom('run')
        .where(column('run.workspace_id', !isNarrow(filter)), '=', workspaceId),
      filter,
    );
  const known = await countListed(store, workspaceId, filter);
  return loadPage(store, select, 'newest of one workspace', page, known);
};

/** Runs of workspaces that the caller may see. */
export const onlyVisible = (selection: Selection, visible: WorkspaceQuery['visible']): Selection =>
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

/** Runs of all workspaces that the caller may see. */
export const listOrganizationRuns = async (
  context: RunsContext,
  principal: Principal,
  organizationName: string,
  given: RunFilter,
  page: Page,
): Promise<RunPage> => {
  const { store } = context;
  const { organization, caller } = await requireOrganization(store, principal, organizationName);
  const visible = await loadVisible(store, caller);
  const filter = await resolveFilter(context, organization.id, given);
  const select = (tables: Kysely<Tables>) =>
    matching(
      onlyVisible(
        tables
          .selectFrom('run')
          .where(column('run.organization_id', !isNarrow(filter)), '=', organization.id),
        visible,
      ),
      filter,
    );
  const known =
    visible === undefined ? await countListed(store, organization.id, filter) : undefined;
  return loadPage(store, select, 'newest', page, known);
};

const RUNNING: readonly string[] = ['planning', 'applying'];
/** Runs that wait for an agent. */
const WAITING: readonly string[] = ['pending', 'confirmed'];

const selectVisible = (
  tables: Kysely<Tables>,
  organizationId: string,
  visible: WorkspaceQuery['visible'],
  statuses: readonly string[],
): Selection =>
  onlyVisible(
    tables
      .selectFrom('run')
      .where('run.organization_id', '=', organizationId)
      .where('run.status', 'in', statuses),
    visible,
  );

/**
 * Runs that are being executed and runs that wait for an agent, in the order of the queue, as far as the
 * caller may see them.
 */
export const listRunQueue = async (
  { store }: RunsContext,
  principal: Principal,
  organizationName: string,
  page: Page,
): Promise<RunPage> => {
  const { organization, caller } = await requireOrganization(store, principal, organizationName);
  const visible = await loadVisible(store, caller);
  const select = (tables: Kysely<Tables>) =>
    selectVisible(tables, organization.id, visible, [...RUNNING, ...WAITING]);
  return loadPage(store, select, 'queue', page);
};

export interface Capacity {
  readonly organizationName: string;
  readonly pending: number;
  readonly running: number;
}

/** Numbers of visible runs that wait for an agent and that are being executed. */
export const countCapacity = async (
  { store }: RunsContext,
  principal: Principal,
  organizationName: string,
): Promise<Capacity> => {
  const { organization, caller } = await requireOrganization(store, principal, organizationName);
  const visible = await loadVisible(store, caller);
  const count = (statuses: readonly string[]) =>
    countRuns(store, (tables) => selectVisible(tables, organization.id, visible, statuses));
  return {
    organizationName: organization.name,
    pending: await count(WAITING),
    running: await count(RUNNING),
  };
};
