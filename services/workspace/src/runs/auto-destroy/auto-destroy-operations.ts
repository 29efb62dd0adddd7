/** Queues auto-destroy runs that are due. */
import { type TransactOptions, unlessDamaged } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { decideEffectiveExecution } from '../../base/execution/domain/execution.ts';
import { organizationRecords } from '../../identity/model/organization-records.ts';
import { configurationVersionRecords } from '../../state/configuration-versions/configuration-version-records.ts';
import type { WorkspaceTables } from '../../workspaces/listing/workspace-projections.ts';
import {
  findAutoDestroyOutcome,
  storeAutoDestroyOutcome,
} from '../../workspaces/model/auto-destroy-records.ts';
import { decideAutoDestroy } from '../../workspaces/model/domain/auto-destroy.ts';
import { type AutoDestroyStatus } from '../../workspaces/model/domain/workspace.ts';
import { projectRecords } from '../../workspaces/model/project-records.ts';
import { findWorkspaceConfiguration } from '../../workspaces/model/workspace-configuration-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import { findWorkspaceState } from '../../workspaces/model/workspace-state-records.ts';
import { findMissingExecutorOf } from '../executors/run-executor-operations.ts';
import { queueInternalRun } from '../lifecycle/run-creation.ts';
import { AUTO_DESTROY_SOURCE } from '../model/domain/run.ts';
import type { RunsContext } from '../seams/runs-context.ts';

/** Workspaces handled in one round. */
const AT_ONCE = 100;

const findDue = async ({ store }: RunsContext, nowMs: number): Promise<readonly string[]> => {
  const own = await store.select((tables: Kysely<WorkspaceTables>) =>
    tables
      .selectFrom('workspace')
      .select('id')
      .where('auto_destroy_at', '>', 0)
      .where('auto_destroy_at', '<=', nowMs)
      .orderBy('auto_destroy_at')
      .limit(AT_ONCE),
  );
  const inherited = await store.select((tables: Kysely<WorkspaceTables>) =>
    tables
      .selectFrom('project_auto_destroy')
      // Makes SQLite join in this order, instead of looking up the project of every workspace.
      .crossJoin('workspace')
      .select('workspace.id as id')
      .whereRef('workspace.project_id', '=', 'project_auto_destroy.project_id')
      .where('workspace.inherits_auto_destroy', '=', 1)
      .where((row) =>
        row.and([
          row(row('latest_change_at', '+', row.ref('duration_ms')), '<=', nowMs),
          row(
            row('latest_change_at', '+', row.ref('duration_ms')),
            '!=',
            row.ref('auto_destroy_handled_at'),
          ),
        ]),
      )
      .limit(AT_ONCE),
  );
  return [...own, ...inherited].map(({ id }) => id);
};

const destroyOne = (
  context: RunsContext,
  workspaceId: string,
  options: TransactOptions,
): Promise<void> =>
  context.store.transact(async (tx) => {
    const workspace = await workspaceRecords.find(tx, workspaceId);
    const project = workspace && (await projectRecords.find(tx, workspace.projectId));
    const organization =
      workspace && (await organizationRecords.find(tx, workspace.organizationId));
    if (workspace === undefined || project === undefined || organization === undefined) return;
    const nowMs = context.clock.nowMs();
    const { latestChangeAtMs, resourceCount } = await findWorkspaceState(tx, workspace);
    const { atMs } = decideAutoDestroy({ ...workspace, latestChangeAtMs }, project);
    const before = await unlessDamaged(findAutoDestroyOutcome(tx, workspace));
    if (atMs === null || atMs > nowMs || before?.atMs === atMs) return;
    const { mode } = decideEffectiveExecution(
      workspace.ownExecution,
      project.ownExecution,
      organization.defaultExecution,
    );
    const configuration = await findWorkspaceConfiguration(tx, workspace);
    const version = await configurationVersionRecords.find(tx, configuration?.currentId ?? '');
    const decide = (status: AutoDestroyStatus) =>
      storeAutoDestroyOutcome(tx, workspace, { atMs, status });
    const end = async (status: AutoDestroyStatus): Promise<void> => {
      const next = decide(status);
      if (next !== workspace) await workspaceRecords.write(tx, workspaceId, next);
    };
    if (resourceCount === 0) {
      await end('nothing-to-destroy');
    } else if (
      // If it cannot be read whether this was done, nothing is destroyed again.
      before === undefined ||
      version === undefined ||
      mode === 'local' ||
      !workspace.settings.allowDestroyPlan
    ) {
      await end('errored');
    } else {
      const given = { isDestroy: true, autoApply: true, message: 'Scheduled auto-destroy' };
      const origin = {
        source: AUTO_DESTROY_SOURCE,
        createdById: null,
        requestedWith: null,
        mayApply: true,
        nowMs,
        order: context.nextRunOrder(),
      };
      const isExecuted = (await findMissingExecutorOf(context, tx, workspace)) === undefined;
      const decided = decide(isExecuted ? 'queued' : 'errored');
      const unasked = { ...version, speculative: false };
      await queueInternalRun(context, tx, decided, unasked, given, origin);
    }
  }, options);

/** @returns true when more may already be due */
export const destroyDueWorkspaces = async (
  context: RunsContext,
  options: TransactOptions,
): Promise<boolean> => {
  const due = await findDue(context, context.clock.nowMs());
  for (const workspaceId of due) await unlessDamaged(destroyOne(context, workspaceId, options));
  return due.length >= AT_ONCE;
};
