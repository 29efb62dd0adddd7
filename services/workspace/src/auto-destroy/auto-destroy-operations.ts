/** Queues the destroy runs whose time has come. */
import type { TransactOptions } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { findMissingExecutorOf } from '../agents/run-executor-operations.ts';
import { configurationVersionRecords } from '../configuration-versions/configuration-version-records.ts';
import { organizationRecords } from '../organizations/organization-records.ts';
import { projectRecords } from '../projects/project-records.ts';
import { queueUnaskedRun } from '../runs/run-creation.ts';
import type { ServiceContext } from '../service-context.ts';
import { decideEffectiveExecution } from '../workspaces/domain/execution.ts';
import type { WorkspaceTables } from '../workspaces/workspace-projections.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';
import { type AutoDestroyStatus, decideAutoDestroy } from './domain/auto-destroy.ts';

/** Workspaces looked at in one round. */
const AT_ONCE = 100;

const findDue = async ({ store }: ServiceContext, nowMs: number): Promise<readonly string[]> => {
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
      // SQLite keeps this order, and does not look at each workspace for its project instead.
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
  { store, clock, nextRunOrder }: ServiceContext,
  workspaceId: string,
  options: TransactOptions,
): Promise<void> =>
  store.transact(async (tx) => {
    const workspace = await workspaceRecords.find(tx, workspaceId);
    const project = workspace && (await projectRecords.find(tx, workspace.projectId));
    const organization =
      workspace && (await organizationRecords.find(tx, workspace.organizationId));
    if (workspace === undefined || project === undefined || organization === undefined) return;
    const nowMs = clock.nowMs();
    const { atMs } = decideAutoDestroy(workspace, project);
    if (atMs === null || atMs > nowMs || workspace.autoDestroyed?.atMs === atMs) return;
    const { mode } = decideEffectiveExecution(
      workspace.ownExecution,
      project.ownExecution,
      organization.defaultExecution,
    );
    const versionId = workspace.currentConfigurationVersionId;
    const version =
      versionId === null ? undefined : await configurationVersionRecords.find(tx, versionId);
    const decide = (status: AutoDestroyStatus) => ({
      ...workspace,
      autoDestroyed: { atMs, status },
    });
    if (workspace.state.resourceCount === 0) {
      workspaceRecords.write(tx, [workspaceId], decide('nothing-to-destroy'));
    } else if (version === undefined || mode === 'local' || !workspace.settings.allowDestroyPlan) {
      workspaceRecords.write(tx, [workspaceId], decide('errored'));
    } else {
      const given = { isDestroy: true, autoApply: true, message: 'Scheduled auto-destroy' };
      const origin = {
        source: 'auto-destroy',
        createdById: null,
        mayApply: true,
        nowMs,
        order: nextRunOrder(),
      };
      const isExecuted = (await findMissingExecutorOf(tx, workspace)) === undefined;
      const decided = decide(isExecuted ? 'queued' : 'errored');
      await queueUnaskedRun(tx, decided, { ...version, speculative: false }, given, origin);
    }
  }, options);

/** @returns true when there may be more at once */
export const destroyDueWorkspaces = async (
  context: ServiceContext,
  options: TransactOptions,
): Promise<boolean> => {
  const due = await findDue(context, context.clock.nowMs());
  for (const workspaceId of due) await destroyOne(context, workspaceId, options);
  return due.length >= AT_ONCE;
};
