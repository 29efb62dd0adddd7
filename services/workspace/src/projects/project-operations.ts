import { KeelsonError } from '@keelson/errors';
import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import {
  loadProjectPermissions,
  notFound,
  type ProjectAccessResult,
  requireOrganization,
  requireProject,
} from '../access/access-operations.ts';
import type { ProjectPermissions } from '../access/domain/project-permissions.ts';
import { seesWholeOrganization } from '../access/domain/standing.ts';
import { grantPlaces, teamProjectGrants } from '../access/grant-records.ts';
import { changePoolUse, removePoolUser } from '../agents/pool-use-operations.ts';
import { decideOrganizationPermissions } from '../organizations/domain/organization-permissions.ts';
import type { ServiceContext } from '../service-context.ts';
import { requireNotOverridden } from '../tags/binding-override-operations.ts';
import {
  checkBindingCount,
  checkBindings,
  type GivenBinding,
  replaceBindings,
} from '../tags/domain/tag-binding.ts';
import { teamNames } from '../teams/team-records.ts';
import { attributeViolation, type Violation } from '../validation/domain/violation.ts';
import {
  checkExecution,
  DEFAULT_EXECUTION_NAMES,
  decideOwnExecution,
  type GivenExecution,
} from '../workspaces/domain/execution.ts';
import { checkActivityDuration } from '../workspaces/domain/workspace-settings.ts';
import type { TagFilter } from '../workspaces/workspace-listing.ts';
import { projectWorkspaces } from '../workspaces/workspace-records.ts';
import { isProjectName, type Project } from './domain/project.ts';
import { projectNames, projectRecords } from './project-records.ts';

export interface GivenProject {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly autoDestroyActivityDuration?: string | null | undefined;
  readonly execution: GivenExecution;
  readonly tagBindings?: readonly GivenBinding[] | undefined;
}

const BINDINGS_POINTER = '/data/relationships/tag-bindings/data';

export const checkProject = (
  given: Pick<GivenProject, 'name' | 'autoDestroyActivityDuration' | 'tagBindings'>,
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

const decideProject = (given: GivenProject, current: Project, nowMs: number): Project => {
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
  const previousName = previous?.name;
  if (name !== previousName) {
    if ((await projectNames.find(tx, organizationId, name)) !== undefined) {
      refuseInvalid([attributeViolation('name', 'Name has already been taken')]);
    }
    if (previousName !== undefined) projectNames.delete(tx, organizationId, previousName);
    projectNames.write(tx, [organizationId, name], { id: project.id });
  }
  const user = { kind: 'project', id, organizationId } as const;
  await changePoolUse(tx, user, previous?.ownExecution?.agentPoolId, ownExecution?.agentPoolId);
  projectRecords.write(tx, [project.id], project);
};

export const createProject = (
  { store, clock }: ServiceContext,
  principal: Principal,
  organizationName: string,
  given: GivenProject & { readonly name: string },
): Promise<ProjectAccessResult> =>
  store.transact(async (tx) => {
    const owner = await requireOrganization(tx, principal, organizationName);
    const { organization, standing } = owner;
    if (!decideOrganizationPermissions(standing).canCreateProject) throw notFound('organization');
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
    const permissions = await loadProjectPermissions(tx, standing, organization, project.id);
    return { ...owner, project, permissions };
  });

export const updateProject = (
  context: ServiceContext,
  principal: Principal,
  projectId: string,
  given: GivenProject,
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

/** Deletes a project without workspaces; the default project stays. */
export const deleteProject = (
  { store }: ServiceContext,
  principal: Principal,
  projectId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const { project, organization, permissions } = await requireProject(tx, principal, projectId);
    const refuse = (text: string): never => {
      throw new KeelsonError('workspace.forbidden', { text });
    };
    if (organization.defaultProjectId === project.id) refuse('the default project stays');
    if (!permissions.canDestroy) refuse('you are not authorized to delete this project');
    if ((await projectWorkspaces.keys(tx, [project.id], { limit: 1 })).length > 0) {
      refuse('the project still has workspaces');
    }
    for (const name of await teamNames.keys(tx, [organization.id])) {
      const team = await teamNames.find(tx, organization.id, name);
      const grant = team && (await teamProjectGrants.find(tx, team.id, project.id));
      if (grant === undefined) continue;
      teamProjectGrants.delete(tx, grant.teamId, project.id);
      grantPlaces.delete(tx, grant.id);
    }
    const user = { kind: 'project', id: project.id, organizationId: organization.id } as const;
    await removePoolUser(tx, user, project.ownExecution?.agentPoolId);
    projectNames.delete(tx, organization.id, project.name);
    projectRecords.delete(tx, project.id);
  });

export interface ProjectFilter {
  /** In any case; undefined is all. */
  readonly names?: readonly string[] | undefined;
  readonly search?: string | undefined;
  /** Bindings, all of which must be there, or one of them where it is a union. */
  readonly tagged: readonly TagFilter[];
  readonly isTagUnion: boolean;
  /** What the caller may do with each. */
  readonly permissions: readonly (keyof ProjectPermissions)[];
  readonly isDescending: boolean;
}

export interface ProjectIds {
  readonly ids: readonly string[];
  /** Of the projects that the caller sees, whatever the filter leaves. */
  readonly visibleCount: number;
}

const isTagged = ({ tagBindings }: Project, { tagged, isTagUnion }: ProjectFilter): boolean => {
  const isThere = (filter: TagFilter): boolean =>
    tagBindings.some(
      ({ key, value }) =>
        key === filter.key && (filter.value === undefined || (value ?? '') === filter.value),
    );
  return isTagUnion && tagged.length > 0 ? tagged.some(isThere) : tagged.every(isThere);
};

/** Ids of the projects that the caller sees and the filter leaves, by name. */
export const listProjectIds = async (
  reads: Reads,
  principal: Principal,
  organizationName: string,
  filter: ProjectFilter,
): Promise<ProjectIds> => {
  const { organization, standing } = await requireOrganization(reads, principal, organizationName);
  const allNames = await projectNames.keys(reads, [organization.id]);
  const names = allNames.filter((name) => {
    const lower = name.toLowerCase();
    return (
      (filter.names === undefined ||
        filter.names.some((wanted) => wanted.toLowerCase() === lower)) &&
      lower.includes(filter.search?.toLowerCase() ?? '')
    );
  });
  if (filter.isDescending) names.reverse();
  const found = await Promise.all(
    names.map((name) => projectNames.find(reads, organization.id, name)),
  );
  const named = found.flatMap((project) => (project === undefined ? [] : [project.id]));
  const withTags = async (): Promise<readonly string[]> => {
    if (filter.tagged.length === 0) return named;
    const projects = await Promise.all(named.map((id) => projectRecords.find(reads, id)));
    return projects.flatMap((project) =>
      project !== undefined && isTagged(project, filter) ? [project.id] : [],
    );
  };
  const ids = await withTags();
  const withPermissions = async (seen: readonly string[]): Promise<readonly string[]> => {
    if (filter.permissions.length === 0) return seen;
    const owned = await Promise.all(
      seen.map((id) => loadProjectPermissions(reads, standing, organization, id)),
    );
    return seen.filter((_, index) => filter.permissions.every((name) => owned[index]?.[name]));
  };
  if (seesWholeOrganization(standing)) {
    return { ids: await withPermissions(ids), visibleCount: allNames.length };
  }
  const granted = await Promise.all(
    standing.teamIds.map((teamId) => teamProjectGrants.keys(reads, [teamId])),
  );
  const visible = new Set(granted.flat());
  const seen = ids.filter((id) => visible.has(id));
  return { ids: await withPermissions(seen), visibleCount: visible.size };
};
