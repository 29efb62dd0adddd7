import { refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation, type Violation } from '../../base/validation/domain/violation.ts';
import { configurationVersionRecords } from '../../state/configuration-versions/configuration-version-records.ts';
import {
  requireWorkspace,
  type WorkspaceAccessResult,
} from '../../workspaces/access/access-operations.ts';
import type { WorkspacePermission } from '../../workspaces/access/domain/workspace-permissions.ts';
import { resolveRuntimeVersion } from '../../workspaces/model/domain/runtime-version.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import { findWorkspaceConfiguration } from '../../workspaces/model/workspace-configuration-records.ts';
import { findMissingExecutor } from '../executors/run-executor-operations.ts';
import type { Run } from '../model/domain/run.ts';
import { runRecords } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { queueRun, type RunInput, type RunSource } from './run-creation.ts';

export interface RunAccess extends WorkspaceAccessResult {
  readonly run: Run;
}

/** @throws KeelsonError `workspace.not_found` */
export const loadRunAccess = async (
  reads: Reads,
  principal: Principal,
  runId: string,
  permission: WorkspacePermission,
): Promise<RunAccess> => {
  const run = await runRecords.find(reads, runId);
  if (run === undefined) throw notFound('run');
  const address = { workspaceId: run.workspaceId };
  return { ...(await requireWorkspace(reads, principal, address, permission)), run };
};

/** @throws KeelsonError `workspace.not_found` */
export const requireRun = (reads: Reads, principal: Principal, runId: string): Promise<RunAccess> =>
  loadRunAccess(reads, principal, runId, 'canReadRun');

const checkExecutor = async (
  context: RunsContext,
  reads: Reads,
  access: WorkspaceAccessResult,
): Promise<readonly Violation[]> => {
  const text = await findMissingExecutor(context, reads, access);
  return text === undefined ? [] : [{ pointer: '/data/relationships/workspace/data/id', text }];
};

const checkRun = (
  given: RunInput,
  { workspace }: Pick<WorkspaceAccessResult, 'workspace'>,
  { runtimeVersions }: Pick<RunsContext, 'runtimeVersions'>,
): readonly Violation[] => {
  const violations: Violation[] = [];
  if (given.isDestroy === true && given.refreshOnly === true) {
    violations.push(
      attributeViolation('refresh-only', 'refresh-only cannot be set with is-destroy'),
    );
  }
  if (given.refresh === false && given.refreshOnly === true) {
    violations.push(attributeViolation('refresh', 'refresh-only cannot be set without refresh'));
  }
  if (given.planOnly === true && given.savePlan === true) {
    violations.push(attributeViolation('save-plan', 'save-plan cannot be set with plan-only'));
  }
  if (given.planOnly === true && given.autoApply === true) {
    violations.push(attributeViolation('auto-apply', 'auto-apply cannot be set with plan-only'));
  }
  if (given.terraformVersion !== undefined && given.planOnly !== true) {
    violations.push(
      attributeViolation('runtime-version', 'a version is chosen for plan-only runs only'),
    );
  } else if (
    given.terraformVersion !== undefined &&
    resolveRuntimeVersion(given.terraformVersion, runtimeVersions) === undefined
  ) {
    violations.push(
      attributeViolation('runtime-version', 'no release satisfies this version or constraint'),
    );
  }
  if (given.isDestroy === true && !workspace.settings.allowDestroyPlan) {
    violations.push(attributeViolation('is-destroy', 'the workspace allows no destroy plans'));
  }
  return violations;
};

const CONFIGURATION_POINTER = '/data/relationships/configuration-version/data/id';

const NO_SUCH_CONFIGURATION = 'there is no such uploaded configuration';

/** Why a workspace has nothing to run. */
const missingConfiguration = ({ id, settings }: Workspace): string =>
  settings.vcsRepo === null
    ? `the workspace has no configuration: upload one (POST /workspaces/${id}/configuration-versions)`
    : `the workspace has no configuration: its repository has not been fetched; vcs-repo of GET /workspaces/${id} names the problem if there is one`;

/** Queues a run of the requested configuration version, or of the workspace's current one. */
export const createRun = (
  context: RunsContext,
  principal: Principal,
  workspaceId: string,
  configurationVersionId: string | undefined,
  given: RunInput,
  source: RunSource,
): Promise<RunAccess> =>
  context.store.transact(async (tx) => {
    const access = await requireWorkspace(tx, principal, { workspaceId }, 'canQueueRun');
    const { workspace, permissions } = access;
    // A caller who may only plan can request neither auto-apply nor a destroy plan.
    const asksForApply = given.autoApply === true || given.isDestroy === true;
    if (asksForApply && !permissions.canQueueApply) throw notFound('workspace');
    refuseInvalid([
      ...(await checkExecutor(context, tx, access)),
      ...checkRun(given, access, context),
    ]);
    const versionId =
      configurationVersionId ?? (await findWorkspaceConfiguration(tx, workspace))?.currentId;
    const version = await configurationVersionRecords.find(tx, versionId ?? '');
    if (version?.workspaceId !== workspaceId || version.status !== 'uploaded') {
      const text =
        versionId === undefined ? missingConfiguration(workspace) : NO_SUCH_CONFIGURATION;
      refuseInvalid([{ pointer: CONFIGURATION_POINTER, text }]);
      throw notFound('configuration version');
    }
    const origin = {
      source,
      createdById: principal.kind === 'user' ? principal.id : null,
      requestedWith: principal.tokenId,
      mayApply: permissions.canQueueApply,
      nowMs: context.clock.nowMs(),
      order: context.nextRunOrder(),
    };
    const run = await queueRun(tx, workspace, version, given, origin);
    return { ...access, run };
  });
