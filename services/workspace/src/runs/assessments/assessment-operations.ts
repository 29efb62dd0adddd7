/** Queues health assessments that are due, and shows their results. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import {
  type Reads,
  readableOnly,
  type Transaction,
  type TransactOptions,
  unlessDamaged,
} from '@keelson/storage';
import type { Kysely } from 'kysely';
import { notFound } from '../../base/not-found.ts';
import { organizationRecords } from '../../identity/model/organization-records.ts';
import { configurationVersionRecords } from '../../state/configuration-versions/configuration-version-records.ts';
import { requireWorkspace } from '../../workspaces/access/access-operations.ts';
import type { WorkspaceTables } from '../../workspaces/listing/workspace-projections.ts';
import { isAtLeast, resolveRuntimeVersion } from '../../workspaces/model/domain/runtime-version.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import { FIRST_ASSESSING_RELEASE } from '../../workspaces/model/domain/workspace-assessments.ts';
import { findWorkspaceAssessments } from '../../workspaces/model/workspace-assessments-records.ts';
import { findWorkspaceConfiguration } from '../../workspaces/model/workspace-configuration-records.ts';
import { findWorkspaceLocking } from '../../workspaces/model/workspace-lock-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import { findWorkspaceRuns } from '../../workspaces/model/workspace-runs-records.ts';
import { findWorkspaceState } from '../../workspaces/model/workspace-state-records.ts';
import { findMissingExecutorOf } from '../executors/run-executor-operations.ts';
import { queueRun } from '../lifecycle/run-creation.ts';
import { loadRunAccess } from '../lifecycle/run-operations.ts';
import { findObstacle, hasResult, isDue, toAssessmentRunId } from '../model/domain/assessment.ts';
import { ASSESSMENT_SOURCE, isAssessment, type Run } from '../model/domain/run.ts';
import { runRecords } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';

const PAGE_SIZE = 500;

const listWorkspaceIds = async function* (
  { store }: RunsContext,
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

/** Workspaces with assessments enabled by their own settings or by their organization. */
const listAssessed = async function* (context: RunsContext): AsyncGenerator<string, void, void> {
  const { store } = context;
  yield* await workspaceRecords.by.assessed.keys(store, []);
  for (const organizationId of await organizationRecords.keys(store, [])) {
    const organization = await organizationRecords.find(readableOnly(store), organizationId);
    if (organization?.settings.assessmentsEnforced === true)
      yield* listWorkspaceIds(context, organizationId);
  }
};

const loadFacts = async (reads: Reads, workspace: Workspace) => {
  const { pendingId, resourceCount, latestChangeAtMs } = await findWorkspaceState(reads, workspace);
  const { current } = await findWorkspaceRuns(reads, workspace);
  const { lock } = await findWorkspaceLocking(reads, workspace);
  return {
    assessments: await findWorkspaceAssessments(reads, workspace),
    currentRunStatus: current?.status,
    isLocked: lock !== null || pendingId !== null,
    resourceCount,
    latestChangeAtMs,
  };
};

const isWorkspaceDue = async (
  { clock, assessmentIntervalMs: intervalMs }: RunsContext,
  reads: Reads,
  workspace: Workspace,
): Promise<boolean> => isDue({ ...(await loadFacts(reads, workspace)), intervalMs }, clock.nowMs());

/** Queues an assessment, or says why none is possible. */
const tryAssess = async (
  context: RunsContext,
  tx: Transaction,
  workspace: Workspace,
): Promise<string | undefined> => {
  const { runtimeVersion } = workspace.settings;
  const release = resolveRuntimeVersion(runtimeVersion, context.runtimeVersions);
  if (release === undefined || !isAtLeast(release, FIRST_ASSESSING_RELEASE))
    return `assessments need a release from ${FIRST_ASSESSING_RELEASE}, and the runtime-version of the workspace is ${runtimeVersion}`;
  const configuration = await findWorkspaceConfiguration(tx, workspace);
  const version = await configurationVersionRecords.find(tx, configuration?.currentId ?? '');
  if (version?.status !== 'uploaded') return 'the workspace has no uploaded configuration';
  const missing = await findMissingExecutorOf(context, tx, workspace);
  if (missing !== undefined) return missing;
  await queueRun(
    tx,
    workspace,
    version,
    { planOnly: true, refreshOnly: true, message: 'Health assessment' },
    {
      source: ASSESSMENT_SOURCE,
      createdById: null,
      requestedWith: null,
      mayApply: false,
      nowMs: context.clock.nowMs(),
      order: context.nextRunOrder(),
    },
  );
  return undefined;
};

const assessOne = (
  context: RunsContext,
  workspaceId: string,
  options: TransactOptions,
): Promise<void> =>
  context.store.transact(async (tx) => {
    const workspace = await workspaceRecords.find(tx, workspaceId);
    if (workspace !== undefined && (await isWorkspaceDue(context, tx, workspace)))
      await tryAssess(context, tx, workspace);
  }, options);

/**
 * Queues an assessment of a workspace before it is due.
 * @throws KeelsonError `workspace.not_assessable` with the reason
 */
export const assessNow = (
  context: RunsContext,
  principal: Principal,
  workspaceId: string,
): Promise<void> =>
  context.store.transact(async (tx) => {
    const { workspace, organization } = await requireWorkspace(
      tx,
      principal,
      { workspaceId },
      'canManageAssessments',
    );
    const isEnabled =
      workspace.settings.assessmentsEnabled || organization.settings.assessmentsEnforced;
    const obstacle = isEnabled
      ? (findObstacle(await loadFacts(tx, workspace)) ?? (await tryAssess(context, tx, workspace)))
      : 'assessments-enabled is false';
    if (obstacle !== undefined)
      throw new KeelsonError('workspace.not_assessable', { text: obstacle });
  });

/** One pass over the workspaces with assessments. */
export const queueDueAssessments = async (
  context: RunsContext,
  options: TransactOptions,
): Promise<void> => {
  for await (const workspaceId of listAssessed(context)) {
    const reads = readableOnly(context.store);
    const workspace = await workspaceRecords.find(reads, workspaceId);
    // Most are not due. Only those that seem due are decided in a transaction.
    if (workspace !== undefined && (await isWorkspaceDue(context, reads, workspace)))
      await unlessDamaged(assessOne(context, workspaceId, options));
  }
};

/**
 * The run that produced a result.
 * @throws KeelsonError `workspace.not_found`
 */
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

/** The run that produced a workspace's newest result; undefined before the first. */
export const findCurrentAssessment = async (
  reads: Reads,
  workspace: Workspace,
): Promise<Run | undefined> => {
  const assessments = await findWorkspaceAssessments(reads, workspace);
  return runRecords.find(reads, assessments?.result?.runId ?? '');
};

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
