import { KeelsonError } from '@keelson/errors';
import { newResourceId, type Page, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { deleteOwned, type Reads, readableOnly, type Transaction } from '@keelson/storage';
import {
  checkExecution,
  DEFAULT_EXECUTION_NAMES,
  decideOwnExecution,
  type ExecutionInput,
} from '../../base/execution/domain/execution.ts';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation, type Violation } from '../../base/validation/domain/violation.ts';
import { seesWholeOrganization } from '../../identity/access/domain/caller-access.ts';
import { decideOrganizationPermissions } from '../../identity/access/domain/organization-permissions.ts';
import type { OrganizationAccessResult } from '../../identity/access/organization-access-operations.ts';
import { requireOrganization } from '../../identity/access/organization-access-operations.ts';
import {
  loadProjectPermissions,
  type ProjectAccessResult,
  requireProject,
} from '../access/access-operations.ts';
import type { ProjectPermissions } from '../access/domain/project-permissions.ts';
import { teamProjectGrants } from '../access/grant-records.ts';
import { changePoolUse, removePoolUser } from '../access/pool-use-operations.ts';
import { countProjects, findProjects, type ProjectQuery } from '../listing/project-listing.ts';
import { isProjectName, type Project } from '../model/domain/project.ts';
import {
  type BindingInput,
  checkBindingCount,
  checkBindings,
  replaceBindings,
} from '../model/domain/tag-binding.ts';
import { checkActivityDuration } from '../model/domain/workspace-settings.ts';
import { projectRecords } from '../model/project-records.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { requireNotOverridden } from '../tags/binding-override-operations.ts';

export interface ProjectInput {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly autoDestroyActivityDuration?: string | null | undefined;
  readonly execution: ExecutionInput;
  readonly tagBindings?: readonly BindingInput[] | undefined;
}

const BINDINGS_POINTER = '/data/relationships/tag-bindings/data';

export const checkProject = (
  given: Pick<ProjectInput, 'name' | 'autoDestroyActivityDuration' | 'tagBindings'>,
): readonly Violation[] => {
  const violations: Violation[] = [];
  if (given.name !== undefined && !isProjectName(given.name)) {
    violations.push(
      attributeViolation(
        'name',
        'Name may only contain letters, numbers, inner spaces, hyphens, and underscores, 3 to 40 in all',
      ),
    );
  }
  violations.push(...checkActivityDuration(given.autoDestroyActivityDuration));
  return [...violations, ...checkBindings(given.tagBindings ?? [], BINDINGS_POINTER)];
};

const decideProject = (given: ProjectInput, current: Project, nowMs: number): Project => {
  const source = { nowMs, newId: () => newResourceId('tb') };
  const tagBindings =
    given.tagBindings === undefined
      ? current.tagBindings
      : replaceBindings(current.tagBindings, given.tagBindings, source);
  refuseInvalid(checkBindingCount(tagBindings, BINDINGS_POINTER));
  return {
    ...current,
    name: given.name ?? current.name,
    description: given.description ?? current.description,
    autoDestroyActivityDuration:
      given.autoDestroyActivityDuration === undefined
        ? current.autoDestroyActivityDuration
        : given.autoDestroyActivityDuration,
    ownExecution: decideOwnExecution(given.execution, current.ownExecution),
    tagBindings,
  };
};

const storeProject = async (
  tx: Transaction,
  project: Project,
  previous: Project | undefined,
): Promise<void> => {
  const { id, organizationId, name, ownExecution } = project;
  if (name !== previous?.name) {
    const ids = await projectRecords.by.name.keys(tx, [organizationId, name]);
    if (ids.some((other) => other !== id)) {
      refuseInvalid([attributeViolation('name', 'Name has already been taken')]);
    }
  }
  const user = { kind: 'project', id, organizationId } as const;
  await changePoolUse(tx, user, previous?.ownExecution?.agentPoolId, ownExecution?.agentPoolId);
  await projectRecords.write(tx, [project.id], project);
};

export const createProject = (
  { store, clock }: WorkspacesContext,
  principal: Principal,
  organizationName: string,
  given: ProjectInput & { readonly name: string },
): Promise<ProjectAccessResult> =>
  store.transact(async (tx) => {
    const owner = await requireOrganization(tx, principal, organizationName);
    const { organization, caller } = owner;
    if (!decideOrganizationPermissions(caller).canCreateProject) throw notFound('organization');
    refuseInvalid([
      ...checkProject(given),
      ...checkExecution(given.execution, undefined, DEFAULT_EXECUTION_NAMES),
    ]);
    const createdAtMs = clock.nowMs();
    const project = decideProject(
      given,
      {
        id: newResourceId('prj'),
        organizationId: organization.id,
        name: given.name,
        description: '',
        autoDestroyActivityDuration: null,
        ownExecution: null,
        tagBindings: [],
        createdAtMs,
      },
      createdAtMs,
    );
    await storeProject(tx, project, undefined);
    const permissions = await loadProjectPermissions(tx, caller, organization, project.id);
    return { ...owner, project, permissions };
  });

export const updateProject = (
  context: WorkspacesContext,
  principal: Principal,
  projectId: string,
  given: ProjectInput,
): Promise<ProjectAccessResult> =>
  context.store.transact(async (tx) => {
    const access = await requireProject(tx, principal, projectId, 'canUpdate');
    refuseInvalid([
      ...checkProject(given),
      ...checkExecution(given.execution, access.project.ownExecution, DEFAULT_EXECUTION_NAMES),
    ]);
    const project = decideProject(given, access.project, context.clock.nowMs());
    if (given.tagBindings !== undefined) {
      await requireNotOverridden(context, tx, project, BINDINGS_POINTER);
    }
    await storeProject(tx, project, access.project);
    return { ...access, project };
  });

/** Deletes a project without workspaces. The default project cannot be deleted. */
export const deleteProject = (
  { store, workspaceSteps }: WorkspacesContext,
  principal: Principal,
  projectId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const { project, organization, permissions } = await requireProject(tx, principal, projectId);
    const refuse = (text: string): never => {
      throw new KeelsonError('workspace.forbidden', { text });
    };
    if (organization.defaultProjectId === project.id)
      refuse('the default project cannot be deleted');
    if (!permissions.canDestroy) refuse('you are not authorized to delete this project');
    if ((await workspaceRecords.by.projectId.keys(tx, project.id, { limit: 1 })).length > 0) {
      refuse('the project still has workspaces');
    }
    const user = { kind: 'project', id: project.id, organizationId: organization.id } as const;
    await removePoolUser(tx, user, project.ownExecution?.agentPoolId);
    for (const step of workspaceSteps) await step.onProjectRemoved?.(tx, project);
    await deleteOwned(tx, { kind: 'project', id: project.id });
    await projectRecords.delete(tx, project.id);
  });

export interface ProjectFilter
  extends Pick<ProjectQuery, 'names' | 'search' | 'tagged' | 'isTagUnion' | 'isDescending'> {
  /** Permissions that the caller must have on each project. */
  readonly permissions: readonly (keyof ProjectPermissions)[];
}

export interface ProjectPage {
  readonly projects: readonly ProjectAccessResult[];
  /** Number of projects that match the filter. */
  readonly totalCount: number;
  /** Number of projects that the caller may see, regardless of the filter. */
  readonly visibleCount: number;
}

/** Projects that the caller may see; undefined means all of the organization. */
const loadVisibleIds = async (
  reads: Reads,
  { caller }: OrganizationAccessResult,
): Promise<readonly string[] | undefined> => {
  if (seesWholeOrganization(caller)) return undefined;
  const granted = await Promise.all(
    caller.teamIds.map((teamId) => teamProjectGrants.keys(reads, [teamId])),
  );
  return [...new Set(granted.flat())];
};

/** Projects in a list limited to those on which the caller has permissions; undefined means all. */
const loadPermittedIds = async (
  reads: Reads,
  { caller, organization }: OrganizationAccessResult,
  visible: readonly string[] | undefined,
  permissions: ProjectFilter['permissions'],
): Promise<readonly string[] | undefined> => {
  if (permissions.length === 0 || caller.isOwner || caller.access.manageProjects) {
    return visible;
  }
  // Other callers have permissions through grants, and on the default project.
  const { defaultProjectId } = organization;
  const granted = await Promise.all(
    caller.teamIds.map((teamId) => teamProjectGrants.keys(reads, [teamId])),
  );
  const candidates = [...new Set([...granted.flat(), defaultProjectId])];
  const held = await Promise.all(
    candidates.map((id) => loadProjectPermissions(reads, caller, organization, id)),
  );
  return candidates.filter(
    (_, at) => held[at]?.canRead && permissions.every((name) => held[at]?.[name]),
  );
};

/** A page of the projects that the caller may see and that match the filter, by name. */
export const listProjects = async (
  { store }: WorkspacesContext,
  principal: Principal,
  organizationName: string,
  { permissions, ...filter }: ProjectFilter,
  page: Page,
): Promise<ProjectPage> => {
  const owner = await requireOrganization(store, principal, organizationName);
  const organizationId = owner.organization.id;
  const visible = await loadVisibleIds(store, owner);
  const among = await loadPermittedIds(store, owner, visible, permissions);
  const { ids, totalCount } = await findProjects(store, {
    ...filter,
    organizationId,
    among,
    page,
  });
  const found = await Promise.all(ids.map((id) => projectRecords.find(readableOnly(store), id)));
  const projects = await Promise.all(
    found
      // A project may be deleted between the search and the read.
      .filter((project) => project !== undefined)
      .map(async (project) => ({
        ...owner,
        project,
        permissions: await loadProjectPermissions(
          store,
          owner.caller,
          owner.organization,
          project.id,
        ),
      })),
  );
  const visibleCount = visible?.length ?? (await countProjects(store, organizationId));
  return { projects, totalCount, visibleCount };
};
