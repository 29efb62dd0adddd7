import { KeelsonError } from '@keelson/errors';
import { newResourceId, refuseInvalid, requireSameId, type Violation } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { deleteOwned, type Reads, type Transaction } from '@keelson/storage';
import {
  checkExecution,
  decideOwnExecution,
  type ExecutionInput,
  WORKSPACE_EXECUTION_NAMES,
} from '../../base/execution/domain/execution.ts';
import { notFound } from '../../base/not-found.ts';
import { recordRunDataPolicy } from '../../base/retention/retention-records.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { isWebUrl } from '../../base/validation/domain/web-url.ts';
import { requireOrganization } from '../../identity/access/organization-access-operations.ts';
import { organizationRecords } from '../../identity/model/organization-records.ts';
import {
  loadWorkspaceAccess,
  requireProject,
  requireWorkspace,
  type WorkspaceAccessResult,
  type WorkspaceAddress,
} from '../access/access-operations.ts';
import { changePoolUse, removePoolUser } from '../access/pool-use-operations.ts';
import { changeWorkspace } from '../access/workspace-change-operations.ts';
import {
  type BindingInput,
  checkBindingCount,
  checkBindings,
  checkFlatTag,
  replaceBindings,
  type TagBinding,
  upsertBindings,
} from '../model/domain/tag-binding.ts';
import {
  DEFAULT_WORKSPACE_SETTINGS,
  isWorkspaceName,
  MAX_NAME_LENGTH,
  type Workspace,
  type WorkspaceSettings,
} from '../model/domain/workspace.ts';
import {
  checkAssessable,
  checkSettings,
  decideSettings,
  type SettingsInput,
} from '../model/domain/workspace-settings.ts';
import { projectRecords } from '../model/project-records.ts';
import { findWorkspaceLocking } from '../model/workspace-lock-records.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import { findWorkspaceState } from '../model/workspace-state-records.ts';
import { requireConnection } from '../oauth/connection-operations.ts';
import type { RemovalContext, WorkspacesContext } from '../seams/workspaces-context.ts';
import { announceBindings } from '../tags/binding-override-operations.ts';
import { moveTo, toPoolUser, withMove } from './workspace-move-operations.ts';

/** A decoded create or update request. */
export interface WorkspaceInput {
  /** As given in the document; undefined, null and "" change nothing. */
  readonly id?: string | null | undefined;
  readonly name?: string | undefined;
  readonly settings: SettingsInput;
  readonly execution: ExecutionInput;
  /** "" and undefined mean the default project on creation, and no move on update. */
  readonly projectId?: string | undefined;
  readonly tagBindings?: readonly BindingInput[] | undefined;
  readonly flatTags?: readonly string[] | undefined;
}

const NAME_RULE = 'Name can only include letters, numbers, -, and _.';
const LENGTH_RULE = `Name must not have more than ${MAX_NAME_LENGTH} characters`;

export const checkWorkspaceName = (name: string): readonly Violation[] => {
  if (isWorkspaceName(name)) return [];
  return [attributeViolation('name', name.length > MAX_NAME_LENGTH ? LENGTH_RULE : NAME_RULE)];
};

/** A request that gave the workspace this name at the same moment does not take it from itself. */
const requireFreeName = async (
  reads: Reads,
  { id, organizationId, name }: Pick<Workspace, 'id' | 'organizationId' | 'name'>,
) => {
  const holder = await workspaceRecords.by.name.findKey(reads, [organizationId, name]);
  if (holder !== undefined && holder !== id) {
    refuseInvalid([attributeViolation('name', 'Name has already been taken')]);
  }
};

const BINDINGS_POINTER = '/data/relationships/tag-bindings/data';
const TAGS_POINTER = '/data/relationships/tags/data';

const PROJECT_POINTER = '/data/relationships/project/data/id';

const decideBindings = (
  given: WorkspaceInput,
  current: readonly TagBinding[],
  nowMs: number,
): readonly TagBinding[] => {
  const source = { nowMs, newId: () => newResourceId('tb') };
  if (given.tagBindings !== undefined) {
    refuseInvalid(checkBindings(given.tagBindings, BINDINGS_POINTER));
  }
  const own =
    given.tagBindings === undefined ? current : replaceBindings(current, given.tagBindings, source);
  const { flatTags = [] } = given;
  refuseInvalid(flatTags.flatMap((name, at) => checkFlatTag(name, `${TAGS_POINTER}/${at}`)));
  const flat = flatTags.map((key) => ({ key }));
  const next = upsertBindings(own, flat, source);
  refuseInvalid(checkBindingCount(next, BINDINGS_POINTER));
  return next;
};

/** @throws KeelsonError `jsonapi.invalid_attribute` if the request enables assessments that could not act */
const requireAssessable = async (
  { runtimeVersions }: WorkspacesContext,
  reads: Reads,
  { settings, ownExecution, projectId, organizationId }: Workspace,
  given: SettingsInput,
): Promise<void> => {
  if (given.assessmentsEnabled !== true) return;
  const project = await projectRecords.find(reads, projectId);
  const organization = await organizationRecords.find(reads, organizationId);
  const own = ownExecution ?? project?.ownExecution ?? organization?.defaultExecution;
  refuseInvalid(checkAssessable(settings, own?.mode, runtimeVersions));
};

export interface Creation {
  readonly sourceName: string | null;
  readonly sourceUrl: string | null;
}

/**
 * Pages show the URL as a link.
 * @param url absent, null and "" mean none
 */
export const checkSourceUrl = (url: string | null | undefined): readonly Violation[] =>
  !url || isWebUrl(url)
    ? []
    : [attributeViolation('source-url', 'source-url must be an absolute http or https URL')];

/** The releases of the built-in runner are its own, so that the newest of them is only known to it. */
const toDefaultRelease = ({ hasRunner, runtimeVersions }: WorkspacesContext): string =>
  hasRunner ? 'latest' : (runtimeVersions[0] ?? 'latest');

export const createWorkspace = (
  context: WorkspacesContext,
  principal: Principal,
  organizationName: string,
  given: WorkspaceInput & { readonly name: string },
  creation: Creation,
): Promise<WorkspaceAccessResult> =>
  context.store.transact(async (tx) => {
    const owner = await requireOrganization(tx, principal, organizationName);
    const { organization } = owner;
    const projectId = given.projectId || organization.defaultProjectId;
    const { project } = await requireProject(tx, principal, projectId, 'canCreateWorkspace');
    if (project.organizationId !== organization.id) {
      refuseInvalid([{ pointer: PROJECT_POINTER, text: 'Project not found' }]);
    }
    const nowMs = context.clock.nowMs();
    const defaults: WorkspaceSettings = {
      ...DEFAULT_WORKSPACE_SETTINGS,
      runtimeVersion: toDefaultRelease(context),
      // A workspace that shares its state with its project does not share it with the whole organization.
      globalRemoteState: context.globalRemoteState && given.settings.projectRemoteState !== true,
    };
    refuseInvalid([
      ...checkWorkspaceName(given.name),
      ...checkSourceUrl(creation.sourceUrl),
      ...checkExecution(given.execution, undefined, WORKSPACE_EXECUTION_NAMES),
      ...checkSettings(given.settings, undefined, context.runtimeVersions),
    ]);
    const workspace: Workspace = {
      id: newResourceId('ws'),
      organizationId: organization.id,
      projectId: project.id,
      name: given.name,
      settings: decideSettings(given.settings, defaults),
      ownExecution: decideOwnExecution(given.execution, null),
      source: 'tfe-api',
      ...creation,
      tagBindings: decideBindings(given, [], nowMs),
      sshKeyId: null,
      retentionPolicy: null,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await requireFreeName(tx, workspace);
    await requireAssessable(context, tx, workspace, given.settings);
    await requireConnection(tx, workspace);
    await announceBindings(tx, workspace, BINDINGS_POINTER);
    await changePoolUse(tx, toPoolUser(workspace), null, workspace.ownExecution?.agentPoolId);
    await workspaceRecords.write(tx, workspace.id, workspace);
    const change = { before: undefined, after: workspace };
    for (const step of context.workspaceSteps) await step.onWorkspaceStored?.(tx, change);
    return loadWorkspaceAccess(tx, owner, workspace);
  });

/**
 * A request that only moves the workspace needs only the permission to move, as the endpoint that moves
 * several does.
 */
const isMoveAlone = (given: WorkspaceInput): boolean =>
  Boolean(given.projectId) &&
  Object.keys(given.settings).length === 0 &&
  [given.name, given.tagBindings, given.flatTags, ...Object.values(given.execution)].every(
    (value) => value === undefined,
  );

export interface WorkspaceUpdate {
  readonly access: WorkspaceAccessResult;
  /** Changes that follow from others but are not in the request. */
  readonly warnings: readonly string[];
}

const ASSESSMENTS_WARNING =
  'assessments-enabled was not given: health assessments, which were enabled, are disabled now';

export const updateWorkspace = async (
  context: WorkspacesContext,
  principal: Principal,
  address: WorkspaceAddress,
  given: WorkspaceInput,
): Promise<WorkspaceUpdate> => {
  let warnings: readonly string[] = [];
  const access = await changeWorkspace(
    context,
    (tx) =>
      requireWorkspace(
        tx,
        principal,
        address,
        isMoveAlone(given) ? 'canReadSettings' : 'canUpdate',
      ),
    async ({ workspace, permissions, organization }, tx) => {
      requireSameId(given.id, workspace.id);
      const endsAssessments =
        workspace.settings.assessmentsEnabled &&
        given.settings.assessmentsEnabled === undefined &&
        !organization.settings.assessmentsEnforced;
      warnings = endsAssessments ? [ASSESSMENTS_WARNING] : [];
      const nowMs = context.clock.nowMs();
      if (!permissions.canUpdate) {
        if (!given.projectId || given.projectId === workspace.projectId)
          throw notFound('workspace');
        const at = { nowMs, pointer: PROJECT_POINTER };
        return withMove(tx, principal, workspace, given.projectId, at);
      }
      refuseInvalid([
        ...(given.name === undefined ? [] : checkWorkspaceName(given.name)),
        ...checkExecution(given.execution, workspace.ownExecution, WORKSPACE_EXECUTION_NAMES),
        ...checkSettings(given.settings, workspace.settings, context.runtimeVersions),
      ]);
      const name = given.name ?? workspace.name;
      if (name !== workspace.name) await requireFreeName(tx, { ...workspace, name });
      const next: Workspace = {
        ...workspace,
        name,
        projectId: await moveTo(tx, principal, workspace, given.projectId),
        // An update without this attribute disables assessments, unless the organization enforces them.
        settings: decideSettings(
          endsAssessments ? { ...given.settings, assessmentsEnabled: false } : given.settings,
          workspace.settings,
        ),
        ownExecution: decideOwnExecution(given.execution, workspace.ownExecution),
        tagBindings: decideBindings(given, workspace.tagBindings, nowMs),
        updatedAtMs: nowMs,
      };
      await requireAssessable(context, tx, next, given.settings);
      // Checked only when the request sets the connection or moves the workspace: an existing one stays
      // valid.
      if (given.settings.vcsRepo || next.projectId !== workspace.projectId) {
        await requireConnection(tx, next);
      }
      if (given.tagBindings !== undefined || given.flatTags !== undefined) {
        await announceBindings(tx, next, BINDINGS_POINTER);
      } else if (next.projectId !== workspace.projectId) {
        await announceBindings(tx, next, PROJECT_POINTER);
      }
      await changePoolUse(
        tx,
        toPoolUser(next),
        workspace.ownExecution?.agentPoolId,
        next.ownExecution?.agentPoolId,
      );
      const change = { before: workspace, after: next };
      for (const step of context.workspaceSteps) await step.onWorkspaceStored?.(tx, change);
      return next;
    },
  );
  return { access, warnings };
};

/** Removes the workspace and everything that belongs only to it. */
const removeWorkspace = async (
  { workspaceSteps }: RemovalContext,
  tx: Transaction,
  workspace: Workspace,
): Promise<void> => {
  await workspaceRecords.delete(tx, workspace.id);
  recordRunDataPolicy(tx, workspace.id, workspace.retentionPolicy, null);
  await removePoolUser(tx, toPoolUser(workspace), workspace.ownExecution?.agentPoolId);
  for (const step of workspaceSteps) await step.onWorkspaceRemoved?.(tx, workspace);
  await deleteOwned(tx, { kind: 'workspace', id: workspace.id });
};

/** Deletes a workspace that is unlocked and manages nothing. */
export const safeDeleteWorkspace = (
  context: WorkspacesContext,
  principal: Principal,
  address: WorkspaceAddress,
): Promise<void> =>
  context.store.transact(async (tx) => {
    const { workspace } = await requireWorkspace(tx, principal, address, 'canDestroy');
    const { lock, unlockedRunId } = await findWorkspaceLocking(tx, workspace);
    if (lock !== null) throw new KeelsonError('workspace.delete_locked');
    const { pendingId, resourceCount } = await findWorkspaceState(tx, workspace);
    if (pendingId !== null || unlockedRunId !== null)
      throw new KeelsonError('workspace.delete_processing');
    if (resourceCount > 0) {
      throw new KeelsonError('workspace.delete_managing', { count: resourceCount });
    }
    await removeWorkspace(context, tx, workspace);
  });

/** A caller who may delete only safely gets 403 with the reason, because the workspace is visible to it. */
const forceRemove = async (
  context: RemovalContext,
  tx: Transaction,
  principal: Principal,
  address: WorkspaceAddress,
): Promise<void> => {
  const { workspace, permissions } = await requireWorkspace(tx, principal, address, 'canDestroy');
  if (!permissions.canForceDelete) {
    throw new KeelsonError('workspace.forbidden', {
      text: `you are not authorized to force delete the workspace ${workspace.name}`,
    });
  }
  await removeWorkspace(context, tx, workspace);
};

/** Deletes a workspace even if it is locked or manages resources. */
export const forceDeleteWorkspace = (
  context: WorkspacesContext,
  principal: Principal,
  address: WorkspaceAddress,
): Promise<void> => context.store.transact((tx) => forceRemove(context, tx, principal, address));

/** Limits the duration of a transaction, because others wait for its commit. */
const DELETED_AT_ONCE = 50;

/**
 * Deletes some workspaces of the organization, even if they are locked or manage resources.
 * @returns the number of deleted workspaces
 */
export const forceDeleteWorkspaces = (
  context: RemovalContext,
  principal: Principal,
  organizationName: string,
): Promise<number> =>
  context.store.transact(async (tx) => {
    const { organization } = await requireOrganization(tx, principal, organizationName);
    const names = await workspaceRecords.by.name.values(tx, [organization.id], {
      limit: DELETED_AT_ONCE,
    });
    for (const workspaceName of names) {
      await forceRemove(context, tx, principal, { organizationName, workspaceName });
    }
    return names.length;
  });
