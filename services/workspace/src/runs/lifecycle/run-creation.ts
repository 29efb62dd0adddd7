/** New runs: requested by a caller, by an uploaded configuration, or by the service itself. */
import { newResourceId } from '@keelson/jsonapi';
import type { Transaction } from '@keelson/storage';
import { configurationVersionRecords } from '../../state/configuration-versions/configuration-version-records.ts';
import type {
  ConfigurationVersion,
  Ingress,
} from '../../state/model/domain/configuration-version.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import { findWorkspaceRuns } from '../../workspaces/model/workspace-runs-records.ts';
import { findMissingExecutorOf } from '../executors/run-executor-operations.ts';
import { CONFIGURATION_SOURCE, type RUN_SOURCES, type Run } from '../model/domain/run.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { failWaitingRun, storeRun } from './run-changes.ts';

/** Attributes of a run that a request sets; the others follow from its workspace. */
export type RunInput = Partial<
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
    | 'commitSha'
  >
>;

/**
 * Possible sources of requested runs: an API client, or a provisioning CLI with one of its two configuration
 * blocks.
 */
export type RunSource = 'tfe-api' | 'terraform' | 'terraform+cloud';

const isCli = (source: string): boolean => source === 'terraform' || source === 'terraform+cloud';

export interface RunOrigin {
  readonly source: (typeof RUN_SOURCES)[number];
  readonly createdById: string | null;
  /** `at-…`; null for a run that no request asked for. */
  readonly requestedWith: string | null;
  /** Whether the requester may apply; if not, the run is never applied automatically. */
  readonly mayApply: boolean;
  readonly nowMs: number;
  /** From `RunsContext.nextRunOrder`. */
  readonly order: number;
}

/** From now on the configuration's files cannot be replaced. */
const recordRunOf = async (tx: Transaction, versionId: string): Promise<void> => {
  const version = await configurationVersionRecords.find(tx, versionId);
  if (version === undefined || version.hasRun) return;
  await configurationVersionRecords.write(tx, [versionId], { ...version, hasRun: true });
};

export const queueRun = async (
  tx: Transaction,
  workspace: Workspace,
  version: Pick<ConfigurationVersion, 'id' | 'speculative'>,
  given: RunInput,
  { source, createdById, requestedWith, mayApply, nowMs, order }: RunOrigin,
): Promise<Run> => {
  await recordRunOf(tx, version.id);
  const { newestNumber, newestOrder = 0 } = await findWorkspaceRuns(tx, workspace);
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
    number: newestNumber + 1,
    // Another replica may have created the previous run.
    order: Math.max(order, newestOrder + 1),
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
    requestedWith,
    createdAtMs: nowMs,
  });
};

/**
 * Queues a run that no request asked for. If no agent can ever claim it, there is no caller to refuse, so the
 * run ends as errored immediately, with the reason in its log.
 */
export const queueInternalRun = async (
  context: Pick<RunsContext, 'hasRunner'>,
  tx: Transaction,
  workspace: Workspace,
  version: Pick<ConfigurationVersion, 'id' | 'speculative'>,
  given: RunInput,
  origin: RunOrigin,
): Promise<Run> => {
  const run = await queueRun(tx, workspace, version, given, origin);
  const reason = await findMissingExecutorOf(context, tx, workspace);
  return reason === undefined ? run : failWaitingRun(tx, run, reason, origin.nowMs);
};

/** Message and commit of a run that a push or a pull request starts. */
const toCommitted = ({ commitMessage, commitSha, pullRequest }: Ingress): RunInput => ({
  message: pullRequest?.title || commitMessage.split('\n', 1)[0] || commitSha,
  commitSha,
});

/** The run that an upload of a configuration queues. */
export const queueUploadedRun = (
  context: Pick<RunsContext, 'hasRunner'>,
  tx: Transaction,
  workspace: Workspace,
  version: ConfigurationVersion,
  origin: Pick<RunOrigin, 'mayApply' | 'nowMs' | 'order'>,
): Promise<Run> =>
  queueInternalRun(
    context,
    tx,
    workspace,
    version,
    {
      savePlan: version.provisional && !version.speculative,
      ...(version.ingress && toCommitted(version.ingress)),
    },
    {
      source: CONFIGURATION_SOURCE,
      createdById: version.createdById,
      requestedWith: version.announcedWith,
      ...origin,
    },
  );
