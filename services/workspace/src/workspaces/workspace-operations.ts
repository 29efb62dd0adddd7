import { KeelsonError } from '@keelson/errors';
import { newResourceId, refuseInvalid, requireSameId, type Violation } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import {
  loadWorkspaceAccess,
  notFound,
  requireOrganization,
  requireProject,
  requireWorkspace,
  type WorkspaceAccessResult,
  type WorkspaceAddress,
} from '../access/access-operations.ts';
import { grantPlaces, teamWorkspaceGrants } from '../access/grant-records.ts';
import { changePoolUse, removePoolUser } from '../agents/pool-use-operations.ts';
import { assessedWorkspaces, noteAssessed } from '../assessments/assessment-records.ts';
import { removeConfigurationVersionsOf } from '../configuration-versions/configuration-version-records.ts';
import { requireConnection } from '../oauth/connection-operations.ts';
import { noteRunDataPolicy } from '../retention/retention-records.ts';
import { NO_RUNS } from '../runs/domain/run-performance.ts';
import { removeRuns } from '../runs/run-changes.ts';
import type { ServiceContext } from '../service-context.ts';
import { consumerLists } from '../state-consumers/consumer-records.ts';
import { NO_STATE } from '../states/domain/state-version.ts';
import { removedWorkspaces } from '../states/state-version-records.ts';
import { announceBindings } from '../tags/binding-override-operations.ts';
import {
  checkBindingCount,
  checkBindings,
  checkFlatTag,
  type GivenBinding,
  replaceBindings,
  type TagBinding,
  upsertBindings,
} from '../tags/domain/tag-binding.ts';
import { teamNames } from '../teams/team-records.ts';
import { attributeViolation } from '../validation/domain/violation.ts';
import { isWebUrl } from '../validation/domain/web-url.ts';
import { variableRecords } from '../variables/variable-records.ts';
import {
  checkExecution,
  decideOwnExecution,
  type GivenExecution,
  WORKSPACE_EXECUTION_NAMES,
} from './domain/execution.ts';
import {
  DEFAULT_WORKSPACE_SETTINGS,
  isWorkspaceName,
  MAX_NAME_LENGTH,
  type Workspace,
  type WorkspaceSettings,
} from './domain/workspace.ts';
import { checkSettings, decideSettings, type GivenSettings } from './domain/workspace-settings.ts';
import { moveTo, toPoolUser, withMove } from './workspace-move-operations.ts';
import { projectWorkspaces, workspaceNames, workspaceRecords } from './workspace-records.ts';

/** A create or update request, decoded. */
export interface GivenWorkspace {
  /** As the document says it; undefined, null and "" say nothing. */
  readonly id?: string | null | undefined;
  readonly name?: string | undefined;
  readonly settings: GivenSettings;
  readonly execution: GivenExecution;
  /** "" and undefined: the default project, or no move. */
  readonly projectId?: string | undefined;
  readonly tagBindings?: readonly GivenBinding[] | undefined;
  readonly flatTags?: readonly string[] | undefined;
}

const NAME_RULE = 'Name can only include letters, numbers, -, and _.';
const LENGTH_RULE = `Name must not have more than ${MAX_NAME_LENGTH} characters`;

export const checkWorkspaceName = (name: string): readonly Violation[] => {
  if (isWorkspaceName(name)) return [];
  return [attributeViolation('name', name.length > MAX_NAME_LENGTH ? LENGTH_RULE : NAME_RULE)];
};

const requireFreeName = async (reads: Reads, organizationId: string, name: string) => {
  if ((await workspaceNames.find(reads, organizationId, name)) !== undefined) {
    refuseInvalid([attributeViolation('name', 'Name has already been taken')]);
  }
};

const BINDINGS_POINTER = '/data/relationships/tag-bindings/data';
const TAGS_POINTER = '/data/relationships/tags/data';

const PROJECT_POINTER = '/data/relationships/project/data/id';

const decideBindings = (
  given: GivenWorkspace,
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

export interface Creation {
  readonly sourceName: string | null;
  readonly sourceUrl: string | null;
}

/** Pages show it as a link. @param url absent, null and "" are none */
export const checkSourceUrl = (url: string | null | undefined): readonly Violation[] =>
  !url || isWebUrl(url)
    ? []
    : [attributeViolation('source-url', 'source-url must be an absolute http or https URL')];

const latestRelease = ({ runtimeVersions }: ServiceContext): string =>
  runtimeVersions[0] ?? 'latest';

export const createWorkspace = (
  context: ServiceContext,
  principal: Principal,
  organizationName: string,
  given: GivenWorkspace & { readonly name: string },
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
      runtimeVersion: latestRelease(context),
      // A workspace that shares with its project does not share with all.
      globalRemoteState: context.globalRemoteState && given.settings.projectRemoteState !== true,
    };
    refuseInvalid([
      ...checkWorkspaceName(given.name),
      ...checkSourceUrl(creation.sourceUrl),
      ...checkExecution(given.execution, undefined, WORKSPACE_EXECUTION_NAMES),
      ...checkSettings(given.settings, undefined, context.runtimeVersions),
    ]);
    await requireFreeName(tx, organization.id, given.name);
    const workspace: Workspace = {
      id: newResourceId('ws'),
      organizationId: organization.id,
      projectId: project.id,
      name: given.name,
      settings: decideSettings(given.settings, defaults),
      ownExecution: decideOwnExecution(given.execution, null),
      source: 'tfe-api',
      ...creation,
      lock: null,
      unlockedRunId: null,
      tagBindings: decideBindings(given, [], nowMs),
      sshKeyId: null,
      variableIds: [],
      currentConfigurationVersionId: null,
      runs: NO_RUNS,
      autoDestroyed: null,
      retentionPolicy: null,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      state: NO_STATE,
      latestChangeAtMs: nowMs,
    };
    await requireConnection(tx, workspace);
    await announceBindings(tx, workspace, BINDINGS_POINTER);
    await changePoolUse(tx, toPoolUser(workspace), null, workspace.ownExecution?.agentPoolId);
    workspaceRecords.write(tx, [workspace.id], workspace);
    noteAssessed(tx, undefined, workspace);
    workspaceNames.write(tx, [organization.id, workspace.name], { id: workspace.id });
    projectWorkspaces.write(tx, [project.id, workspace.id], {});
    return loadWorkspaceAccess(tx, owner, workspace);
  });

/** Changes one workspace in a transaction that `change` may refuse; returns it as it is then. */
export const changeWorkspace = (
  context: ServiceContext,
  load: (tx: Transaction) => Promise<WorkspaceAccessResult>,
  change: (access: WorkspaceAccessResult, tx: Transaction) => Promise<Workspace> | Workspace,
): Promise<WorkspaceAccessResult> =>
  context.store.transact(async (tx) => {
    const access = await load(tx);
    const workspace = await change(access, tx);
    workspaceRecords.write(tx, [workspace.id], workspace);
    return loadWorkspaceAccess(tx, access, workspace);
  });

/** A request for nothing but a move needs the right to move alone, as the one for many does. */
const isMoveAlone = (given: GivenWorkspace): boolean =>
  Boolean(given.projectId) &&
  Object.keys(given.settings).length === 0 &&
  [given.name, given.tagBindings, given.flatTags, ...Object.values(given.execution)].every(
    (value) => value === undefined,
  );

export interface WorkspaceUpdate {
  readonly access: WorkspaceAccessResult;
  /** Changes that the request did not name. */
  readonly warnings: readonly string[];
}

const ASSESSMENTS_WARNING =
  'assessments-enabled was not given: health assessments, which were enabled, are disabled now';

export const updateWorkspace = async (
  context: ServiceContext,
  principal: Principal,
  address: WorkspaceAddress,
  given: GivenWorkspace,
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
    async ({ workspace, permissions }, tx) => {
      requireSameId(given.id, workspace.id);
      const endsAssessments =
        workspace.settings.assessmentsEnabled && given.settings.assessmentsEnabled === undefined;
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
      if (name !== workspace.name) {
        await requireFreeName(tx, workspace.organizationId, name);
        workspaceNames.delete(tx, workspace.organizationId, workspace.name);
        workspaceNames.write(tx, [workspace.organizationId, name], { id: workspace.id });
      }
      const next: Workspace = {
        ...workspace,
        name,
        projectId: await moveTo(tx, principal, workspace, given.projectId),
        // The one attribute that an update has a default for.
        settings: decideSettings(
          { assessmentsEnabled: false, ...given.settings },
          workspace.settings,
        ),
        ownExecution: decideOwnExecution(given.execution, workspace.ownExecution),
        tagBindings: decideBindings(given, workspace.tagBindings, nowMs),
        updatedAtMs: nowMs,
      };
      noteAssessed(tx, workspace, next);
      // What was open once stays, until the request is about it.
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
      return next;
    },
  );
  return { access, warnings };
};

/** Removes the workspace and everything that is kept for it alone. */
const removeWorkspace = async (tx: Transaction, workspace: Workspace): Promise<void> => {
  workspaceRecords.delete(tx, workspace.id);
  workspaceNames.delete(tx, workspace.organizationId, workspace.name);
  projectWorkspaces.delete(tx, workspace.projectId, workspace.id);
  consumerLists.delete(tx, workspace.id);
  if (workspace.settings.assessmentsEnabled) assessedWorkspaces.delete(tx, workspace.id);
  noteRunDataPolicy(tx, workspace.id, workspace.retentionPolicy, null);
  removedWorkspaces.write(tx, [workspace.id], {});
  await removePoolUser(tx, toPoolUser(workspace), workspace.ownExecution?.agentPoolId);
  for (const id of workspace.variableIds) variableRecords.delete(tx, id);
  await removeRuns(tx, workspace.id);
  await removeConfigurationVersionsOf(tx, workspace.id);
  for (const name of await teamNames.keys(tx, [workspace.organizationId])) {
    const team = await teamNames.find(tx, workspace.organizationId, name);
    const grant = team && (await teamWorkspaceGrants.find(tx, team.id, workspace.id));
    if (grant === undefined) continue;
    teamWorkspaceGrants.delete(tx, grant.teamId, workspace.id);
    grantPlaces.delete(tx, grant.id);
  }
};

/** Deletes a workspace that is unlocked and manages nothing. */
export const safeDeleteWorkspace = (
  context: ServiceContext,
  principal: Principal,
  address: WorkspaceAddress,
): Promise<void> =>
  context.store.transact(async (tx) => {
    const { workspace } = await requireWorkspace(tx, principal, address, 'canDestroy');
    if (workspace.lock !== null) throw new KeelsonError('workspace.delete_locked');
    const { pendingId, resourceCount } = workspace.state;
    if (pendingId !== null || workspace.unlockedRunId !== null)
      throw new KeelsonError('workspace.delete_processing');
    if (resourceCount > 0) {
      throw new KeelsonError('workspace.delete_managing', { count: resourceCount });
    }
    await removeWorkspace(tx, workspace);
  });

/** Who could delete the workspace safely only is told so. */
const forceRemove = async (
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
  await removeWorkspace(tx, workspace);
};

/** Deletes a workspace whatever it holds. */
export const forceDeleteWorkspace = (
  context: ServiceContext,
  principal: Principal,
  address: WorkspaceAddress,
): Promise<void> => context.store.transact((tx) => forceRemove(tx, principal, address));

/** Keeps a transaction short: others wait for its commit. */
const DELETED_AT_ONCE = 50;

/** Deletes some workspaces of the organization, whatever they hold. @returns how many */
export const forceDeleteWorkspaces = (
  context: ServiceContext,
  principal: Principal,
  organizationName: string,
): Promise<number> =>
  context.store.transact(async (tx) => {
    const { organization } = await requireOrganization(tx, principal, organizationName);
    const names = await workspaceNames.keys(tx, [organization.id], { limit: DELETED_AT_ONCE });
    for (const workspaceName of names) {
      await forceRemove(tx, principal, { organizationName, workspaceName });
    }
    return names.length;
  });
