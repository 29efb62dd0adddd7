/** Filters for lists of runs. */
import type { Reads, Store } from '@keelson/storage';
import type { Kysely, SelectQueryBuilder } from 'kysely';
import { ORDERS_PER_MS } from '../../base/creation-order.ts';
import { findUserIdByName } from '../../identity/model/user-records.ts';
import type { WorkspaceTables } from '../../workspaces/listing/workspace-projections.ts';
import { filledUp, likePart } from '../../workspaces/listing/workspace-selection.ts';
import { agentPoolRecords } from '../../workspaces/model/agent-pool-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import { findNamedPoolId } from '../executors/run-executor-operations.ts';
import { UNLISTED_OPERATIONS } from '../model/domain/run.ts';
import { runRecords } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import type { RunTables } from './run-projections.ts';

export type RunListTables = RunTables & WorkspaceTables;
export type RunSelection = SelectQueryBuilder<RunListTables, 'run', object>;

export interface RunFilter {
  /** Empty means any status. */
  readonly statuses: readonly string[];
  readonly sources: readonly string[];
  /** Empty means all operations except `UNLISTED_OPERATIONS`. */
  readonly operations: readonly string[];
  readonly agentPoolNames: readonly string[];
  readonly workspaceNames: readonly string[];
  /** A year ("2026"), or "year" for the last twelve months. */
  readonly timeframe: string | undefined;
  readonly username: string | undefined;
  /** Only runs from version control have a commit, and there are none. */
  readonly commit: string | undefined;
  /** Part of the message, the run's id, or the user's name. */
  readonly text: string | undefined;
}

/** A filter in which ids replace names. */
export interface ResolvedFilter extends RunFilter {
  readonly agentPoolIds: readonly string[];
  /** Workspaces with pending runs that no agent has claimed, and that wait for one of these pools. */
  readonly waitingWorkspaceIds: readonly string[];
  readonly workspaceIds: readonly string[];
  /** Id of the user given by `username`, "" when there is none; undefined means no filter. */
  readonly userId: string | undefined;
  readonly textUserId: string | undefined;
  /** Runs whose messages contain the text, if there are few. */
  readonly textRunIds: readonly string[] | undefined;
  readonly createdMs: { readonly from: number; readonly before: number } | undefined;
}

const findUserId = async (reads: Reads, name: string | undefined): Promise<string | undefined> =>
  name === undefined ? undefined : ((await findUserIdByName(reads, name)) ?? NOBODY);

/** Largest number of messages that the trigram index returns. */
const FEW_RUNS = 500;
/** An id that matches no record. */
const NOBODY = '-';
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

const toPeriod = (timeframe: string | undefined, nowMs: number) => {
  if (timeframe === 'year') return { from: nowMs - YEAR_MS, before: nowMs + 1 };
  if (timeframe === undefined || !/^\d{4}$/.test(timeframe)) return undefined;
  const year = Number(timeframe);
  return { from: Date.UTC(year), before: Date.UTC(year + 1) };
};

const findIds = async (
  names: readonly string[],
  find: (name: string) => Promise<readonly string[]>,
): Promise<readonly string[]> => {
  const ids = (await Promise.all(names.map(find))).flat();
  return names.length > 0 && ids.length === 0 ? [NOBODY] : ids;
};

/** The current settings of its workspace decide which pool a pending run waits for. */
const findWaitingWorkspaceIds = async (
  store: Store,
  organizationId: string,
  agentPoolIds: readonly string[],
): Promise<readonly string[]> => {
  if (agentPoolIds.length === 0) return [];
  const rows = await store.select((tables: Kysely<RunTables>) =>
    tables
      .selectFrom('run')
      .select('workspace_id')
      .distinct()
      .where('organization_id', '=', organizationId)
      .where('status', '=', 'pending'),
  );
  const waiting: string[] = [];
  for (const { workspace_id: id } of rows) {
    const workspace = await workspaceRecords.find(store, id);
    const poolId = workspace && (await findNamedPoolId(store, workspace));
    if (poolId !== undefined && agentPoolIds.includes(poolId)) waiting.push(id);
  }
  return waiting;
};

const findPools = async (store: Store, organizationId: string, names: readonly string[]) => {
  const agentPoolIds = await findIds(names, (name) =>
    agentPoolRecords.by.name.keys(store, [organizationId, name]),
  );
  return {
    agentPoolIds,
    waitingWorkspaceIds: await findWaitingWorkspaceIds(store, organizationId, agentPoolIds),
  };
};

export const resolveFilter = async (
  { store, clock }: RunsContext,
  organizationId: string,
  filter: RunFilter,
): Promise<ResolvedFilter> => ({
  ...filter,
  ...(await findPools(store, organizationId, filter.agentPoolNames)),
  workspaceIds: await findIds(filter.workspaceNames, async (name) => {
    const named = await workspaceRecords.by.name.findKey(store, [organizationId, name]);
    return named === undefined ? [] : [named];
  }),
  userId: await findUserId(store, filter.username),
  textUserId: await findUserId(store, filter.text),
  textRunIds:
    filter.text === undefined
      ? undefined
      : await store.findByPart('run', {
          scope: organizationId,
          part: filter.text.toLowerCase(),
          limit: FEW_RUNS,
        }),
  createdMs: toPeriod(filter.timeframe, clock.nowMs()),
});

/** Paths of runs that match a text, in their messages or as their id. */
const toPath = (runId: string): string => runRecords.path(runId);

/** Whether a text filter alone matches so few runs that all of them can be read. */
export const isNarrow = ({ text, textRunIds, textUserId }: ResolvedFilter): boolean =>
  text !== undefined && textRunIds !== undefined && textUserId === NOBODY;

const containing = (selection: RunSelection, text: string, filter: ResolvedFilter): RunSelection =>
  selection.where((rows) => {
    const byMessage =
      filter.textRunIds === undefined
        ? [rows('run.message', 'like', likePart(text)), rows('run.record_path', '=', toPath(text))]
        : [rows('run.record_path', 'in', filledUp([...filter.textRunIds, text].map(toPath)))];
    const { textUserId = NOBODY } = filter;
    return textUserId === NOBODY
      ? rows.or(byMessage)
      : rows.or([...byMessage, rows('run.created_by', '=', textUserId)]);
  });

export const matching = (selection: RunSelection, filter: ResolvedFilter): RunSelection => {
  const { statuses, sources, operations, agentPoolIds, workspaceIds, createdMs } = filter;
  const { waitingWorkspaceIds } = filter;
  let found = selection;
  if (agentPoolIds.length > 0) {
    found = found.where((run) =>
      run.or([
        run('run.agent_pool_id', 'in', agentPoolIds),
        run.and([
          run('run.status', '=', 'pending'),
          run('run.workspace_id', 'in', [...waitingWorkspaceIds, NOBODY]),
        ]),
      ]),
    );
  }
  if (workspaceIds.length > 0) found = found.where('run.workspace_id', 'in', workspaceIds);
  if (createdMs !== undefined) {
    found = found
      // `made_order` starts with the creation time and is indexed.
      .where('run.made_order', '>=', createdMs.from * ORDERS_PER_MS)
      .where('run.created_at', '<', createdMs.before);
  }
  if (filter.userId !== undefined) found = found.where('run.created_by', '=', filter.userId);
  if (filter.commit) {
    const start = filter.commit.toLowerCase();
    // Sorts after every hash with this beginning.
    found = found.where('run.commit_sha', '>=', start).where('run.commit_sha', '<', `${start}g`);
  }
  if (filter.text !== undefined) {
    found = containing(found, filter.text, filter);
  }
  if (statuses.length > 0) found = found.where('run.status', 'in', statuses);
  if (sources.length > 0) found = found.where('run.source', 'in', sources);
  return operations.length > 0
    ? found.where('run.operation', 'in', operations)
    : found.where('run.operation', 'not in', UNLISTED_OPERATIONS);
};
