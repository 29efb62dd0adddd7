/** New runs: asked for by a caller, by an uploaded configuration, or by the service itself. */
import { newResourceId } from '@keelson/jsonapi';
import type { Transaction } from '@keelson/storage';
import { findMissingExecutorOf } from '../agents/run-executor-operations.ts';
import { configurationVersionRecords } from '../configuration-versions/configuration-version-records.ts';
import type { ConfigurationVersion } from '../configuration-versions/domain/configuration-version.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import type { Run } from './domain/run.ts';
import { failWaitingRun, storeRun } from './run-changes.ts';

/** What a request says of a run; the rest follows from its workspace. */
export type GivenRun = Partial<
  Pick<
    Run,
    | 'message'
    | 'isDestroy'
    | 'refresh'
    | 'refreshOnly'
    | 'autoApply'
    | 'planOnly'
    | 'savePlan'
    | 'allowEmptyApply'
    | 'targetAddrs'
    | 'replaceAddrs'
    | 'variables'
    | 'terraformVersion'
  >
>;

/** Sources of runs that a request asks for: a client of the API, or a provisioning CLI by its two blocks. */
export type RunSource = 'tfe-api' | 'terraform' | 'terraform+cloud';

const isCli = (source: string): boolean => source === 'terraform' || source === 'terraform+cloud';

export interface RunOrigin {
  readonly source: string;
  readonly createdById: string | null;
  /** Whether who asked may apply; where not, the apply never follows the plan by itself. */
  readonly mayApply: boolean;
  readonly nowMs: number;
  /** From `ServiceContext.nextRunOrder`. */
  readonly order: number;
}

/** The files of a configuration are not replaced once a run has them. */
const noteRunOf = async (tx: Transaction, versionId: string): Promise<void> => {
  const version = await configurationVersionRecords.find(tx, versionId);
  if (version === undefined || version.hasRun) return;
  configurationVersionRecords.write(tx, [versionId], { ...version, hasRun: true });
};

export const queueRun = async (
  tx: Transaction,
  workspace: Workspace,
  version: Pick<ConfigurationVersion, 'id' | 'speculative'>,
  given: GivenRun,
  { source, createdById, mayApply, nowMs, order }: RunOrigin,
): Promise<Run> => {
  await noteRunOf(tx, version.id);
  return storeRun(tx, workspace, {
    message: isCli(source) ? 'Triggered via CLI' : 'Triggered via API',
    isDestroy: false,
    refresh: true,
    refreshOnly: false,
    savePlan: false,
    allowEmptyApply: false,
    targetAddrs: [],
    replaceAddrs: [],
    variables: [],
    terraformVersion: workspace.settings.runtimeVersion,
    ...given,
    autoApply: mayApply && (given.autoApply ?? workspace.settings.autoApply),
    planOnly: version.speculative || (given.planOnly ?? false),
    id: newResourceId('run'),
    number: workspace.runs.newestNumber + 1,
    // Another replica may have made the one before.
    order: Math.max(order, (workspace.runs.newestOrder ?? 0) + 1),
    organizationId: workspace.organizationId,
    workspaceId: workspace.id,
    configurationVersionId: version.id,
    status: 'pending',
    statusTimesMs: { pending: nowMs },
    source,
    planned: null,
    applied: null,
    cancelRequestedAtMs: null,
    agentPoolId: null,
    agentId: null,
    stateVersionIds: [],
    createdById,
    createdAtMs: nowMs,
  });
};

/**
 * Queues a run that no request asked for. Nobody could be told that no agent would ever take it: it is
 * errored at once then, and its log says why.
 */
export const queueUnaskedRun = async (
  tx: Transaction,
  workspace: Workspace,
  version: Pick<ConfigurationVersion, 'id' | 'speculative'>,
  given: GivenRun,
  origin: RunOrigin,
): Promise<Run> => {
  const run = await queueRun(tx, workspace, version, given, origin);
  const reason = await findMissingExecutorOf(tx, workspace);
  return reason === undefined ? run : failWaitingRun(tx, run, reason, origin.nowMs);
};

/** The run that an upload asks for. */
export const queueUploadedRun = (
  tx: Transaction,
  workspace: Workspace,
  version: ConfigurationVersion,
  origin: Pick<RunOrigin, 'mayApply' | 'nowMs' | 'order'>,
): Promise<Run> =>
  queueUnaskedRun(
    tx,
    workspace,
    version,
    { savePlan: version.provisional && !version.speculative },
    { source: 'tfe-configuration-version', createdById: version.createdById, ...origin },
  );
