/** Queues the health assessments whose time has come, and shows what came of them. */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, TransactOptions } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { notFound, requireWorkspace } from '../access/access-operations.ts';
import { findMissingExecutorOf } from '../agents/run-executor-operations.ts';
import { configurationVersionRecords } from '../configuration-versions/configuration-version-records.ts';
import { organizationRecords } from '../organizations/organization-records.ts';
import { ASSESSMENT_SOURCE, isAssessment, type Run } from '../runs/domain/run.ts';
import { queueRun } from '../runs/run-creation.ts';
import { loadRunAccess } from '../runs/run-operations.ts';
import { runRecords } from '../runs/run-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { isAtLeast, resolveRuntimeVersion } from '../workspaces/domain/runtime-version.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import type { WorkspaceTables } from '../workspaces/workspace-projections.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';
import { assessedWorkspaces } from './assessment-records.ts';
import {
  FIRST_ASSESSING_RELEASE,
  hasResult,
  isDue,
  toAssessmentRunId,
} from './domain/assessment.ts';

const PAGE_SIZE = 500;

const listWorkspaceIds = async function* (
  { store }: ServiceContext,
  organizationId: string,
): AsyncGenerator<string, void, void> {
  let last = { name: '', id: '' };
  let count: number;
  do {
    const { name, id } = last;
    const rows = await store.select((tables: Kysely<WorkspaceTables>) =>
      tables
        .selectFrom('workspace')
        .select(['id', 'name_lower'])
        .where('organization_id', '=', organizationId)
        .where((row) =>
          row.or([row('name_lower', '>', name), row('name_lower', '=', name).and('id', '>', id)]),
        )
        .orderBy('name_lower')
        .orderBy('id')
        .limit(PAGE_SIZE),
    );
    yield* rows.map((row) => row.id);
    const end = rows.at(-1);
    if (end !== undefined) last = { name: end.name_lower, id: end.id };
    count = rows.length;
  } while (count === PAGE_SIZE);
};

/** Workspaces whose assessments are enabled, by themselves or by their organization. */
const listAssessed = async function* (context: ServiceContext): AsyncGenerator<string, void, void> {
  const { store } = context;
  yield* await assessedWorkspaces.keys(store, []);
  for (const organizationId of await organizationRecords.keys(store, [])) {
    const organization = await organizationRecords.find(store, organizationId);
    if (organization?.settings.assessmentsEnforced === true)
      yield* listWorkspaceIds(context, organizationId);
  }
};

const isWorkspaceDue = (
  { clock, assessmentIntervalMs: intervalMs }: ServiceContext,
  { assessments, ...workspace }: Workspace,
): boolean =>
  isDue(
    {
      assessments,
      latestChangeAtMs: workspace.latestChangeAtMs,
      currentRunStatus: workspace.runs.current?.status,
      isLocked: workspace.lock !== null || workspace.state.pendingId !== null,
      resourceCount: workspace.state.resourceCount,
      intervalMs,
    },
    clock.nowMs(),
  );

/** The configuration that an assessment plans with; undefined where none can be made now. */
const findConfiguration = async (
  { runtimeVersions }: ServiceContext,
  reads: Reads,
  workspace: Workspace,
) => {
  const release = resolveRuntimeVersion(workspace.settings.runtimeVersion, runtimeVersions);
  if (release === undefined || !isAtLeast(release, FIRST_ASSESSING_RELEASE)) return undefined;
  const versionId = workspace.currentConfigurationVersionId ?? '';
  const version = await configurationVersionRecords.find(reads, versionId);
  if (version?.status !== 'uploaded') return undefined;
  return (await findMissingExecutorOf(reads, workspace)) === undefined ? version : undefined;
};

const assessOne = (
  context: ServiceContext,
  workspaceId: string,
  options: TransactOptions,
): Promise<void> =>
  context.store.transact(async (tx) => {
    const nowMs = context.clock.nowMs();
    const workspace = await workspaceRecords.find(tx, workspaceId);
    if (workspace === undefined || !isWorkspaceDue(context, workspace)) return;
    const version = await findConfiguration(context, tx, workspace);
    if (version === undefined) return;
    await queueRun(
      tx,
      workspace,
      version,
      { planOnly: true, refreshOnly: true, message: 'Health assessment' },
      {
        source: ASSESSMENT_SOURCE,
        createdById: null,
        mayApply: false,
        nowMs,
        order: context.nextRunOrder(),
      },
    );
  }, options);

/** One pass over the workspaces that are assessed. */
export const queueDueAssessments = async (
  context: ServiceContext,
  options: TransactOptions,
): Promise<void> => {
  for await (const workspaceId of listAssessed(context)) {
    const workspace = await workspaceRecords.find(context.store, workspaceId);
    // Most are not due: only what looks so is decided in a transaction.
    if (workspace !== undefined && isWorkspaceDue(context, workspace))
      await assessOne(context, workspaceId, options);
  }
};

/** The run behind a result. @throws KeelsonError `workspace.not_found` */
export const requireAssessment = async (
  reads: Reads,
  principal: Principal,
  id: string,
): Promise<Run> => {
  const runId = id.startsWith('asmtres-') ? toAssessmentRunId(id) : '';
  const { run } = await loadRunAccess(reads, principal, runId, 'canReadAssessmentResults');
  if (!isAssessment(run) || !hasResult(run)) throw notFound('assessment result');
  return run;
};

/** The run behind the newest result of a workspace; undefined before the first. */
export const findCurrentAssessment = (
  reads: Reads,
  { assessments }: Workspace,
): Promise<Run | undefined> => runRecords.find(reads, assessments?.result?.runId ?? '');

/** @throws KeelsonError `workspace.not_found` */
export const requireCurrentAssessment = async (
  reads: Reads,
  principal: Principal,
  workspaceId: string,
): Promise<Run> => {
  const { workspace } = await requireWorkspace(
    reads,
    principal,
    { workspaceId },
    'canReadAssessmentResults',
  );
  const run = await findCurrentAssessment(reads, workspace);
  if (run === undefined) throw notFound('assessment result');
  return run;
};
