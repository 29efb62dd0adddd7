/**
 * Runs by the time at which they were created. They follow from the runs themselves, so they need no counters, and
 * nothing is left of them when a workspace is removed.
 */
import { type HistorySpan, type HistoryWindow, spanOf } from '@keelson/history';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import { ORDERS_PER_MS } from '../../base/creation-order.ts';
import type { RunStatus } from '../../base/run-status.ts';
import { requireOrganization } from '../../identity/access/organization-access-operations.ts';
import { requireWorkspace } from '../../workspaces/access/access-operations.ts';
import { loadVisible } from '../../workspaces/listing/visible-scope.ts';
import { isFinal } from '../model/domain/run.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import type { RunListTables, RunSelection } from './run-filter.ts';
import { onlyVisible } from './run-listing.ts';

export interface RunStatistics {
  readonly window: HistoryWindow;
  readonly span: HistorySpan;
  readonly created: readonly number[];
  readonly finished: readonly number[];
  readonly errored: readonly number[];
  /** Mean time until the plan began, in milliseconds; null if no plan has begun. */
  readonly queuedMs: readonly (number | null)[];
}

interface Group {
  readonly step: number | bigint;
  readonly status: string;
  readonly runs: number | bigint;
  readonly begun: number | bigint | null;
  readonly queued_ms: number | bigint | string | null;
}

const countRuns = async (
  { store, clock }: RunsContext,
  window: HistoryWindow,
  select: (tables: Kysely<RunListTables>) => RunSelection,
): Promise<RunStatistics> => {
  const span = spanOf(window, clock.nowMs());
  const { fromMs, stepMs, count } = span;
  // Numbers are written into the statement, because PostgreSQL compares expressions with parameters as if they differed.
  const step = sql<number | bigint>`(run.created_at - ${sql.lit(fromMs)}) / ${sql.lit(stepMs)}`;
  const groups: readonly Group[] = await store.select((tables: Kysely<RunListTables>) =>
    select(tables)
      .where('run.operation', '!=', 'assess')
      // `made_order` starts with the creation time and is indexed.
      .where('run.made_order', '>=', fromMs * ORDERS_PER_MS)
      .where('run.created_at', '>=', fromMs)
      .groupBy([step, 'run.status'])
      .select(({ fn }) => [
        step.as('step'),
        'run.status as status',
        fn.countAll<number | bigint>().as('runs'),
        sql<number | bigint | null>`sum(case when run.queued_ms >= 0 then 1 else 0 end)`.as(
          'begun',
        ),
        sql<
          number | bigint | null
        >`sum(case when run.queued_ms >= 0 then run.queued_ms else 0 end)`.as('queued_ms'),
      ]),
  );
  const zeros = (): number[] => Array.from({ length: count }, () => 0);
  const [created, finished, errored, begun, queued] = [zeros(), zeros(), zeros(), zeros(), zeros()];
  for (const group of groups) {
    const at = Number(group.step);
    const add = (to: number[], value: unknown): void => {
      if (at < count) to[at] = (to[at] ?? 0) + Number(value);
    };
    add(created, group.runs);
    if (group.status === 'errored') add(errored, group.runs);
    else if (isFinal(group.status as RunStatus)) add(finished, group.runs);
    add(begun, group.begun);
    add(queued, group.queued_ms);
  }
  return {
    window,
    span,
    created,
    finished,
    errored,
    queuedMs: queued.map((sum, at) => (begun[at] ? Math.round(sum / begun[at]) : null)),
  };
};

export const countWorkspaceRuns = async (
  context: RunsContext,
  principal: Principal,
  workspaceId: string,
  window: HistoryWindow,
): Promise<RunStatistics> => {
  await requireWorkspace(context.store, principal, { workspaceId }, 'canReadRun');
  return countRuns(context, window, (tables) =>
    tables.selectFrom('run').where('run.workspace_id', '=', workspaceId),
  );
};

/** Runs of all workspaces that the caller may see. */
export const countOrganizationRuns = async (
  context: RunsContext,
  principal: Principal,
  organizationName: string,
  window: HistoryWindow,
): Promise<RunStatistics> => {
  const { store } = context;
  const { organization, caller } = await requireOrganization(store, principal, organizationName);
  const visible = await loadVisible(store, caller);
  return countRuns(context, window, (tables) =>
    onlyVisible(
      tables.selectFrom('run').where('run.organization_id', '=', organization.id),
      visible,
    ),
  );
};
