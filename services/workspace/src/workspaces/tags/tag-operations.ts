import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { notFound } from '../../base/not-found.ts';
import type { Violation } from '../../base/validation/domain/violation.ts';
import { type OrganizationAccessResult } from '../../identity/access/organization-access-operations.ts';
import {
  type ProjectAccessResult,
  requireProject,
  requireWorkspace,
  type WorkspaceAccessResult,
} from '../access/access-operations.ts';
import { changeWorkspace } from '../access/workspace-change-operations.ts';
import { loadScope } from '../listing/visible-scope.ts';
import {
  type BindingInput,
  checkBindingCount,
  checkBindings,
  checkFlatTag,
  replaceBindings,
  type TagBinding,
  upsertBindings,
} from '../model/domain/tag-binding.ts';
import { projectRecords } from '../model/project-records.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { announceBindings, requireNotOverridden } from './binding-override-operations.ts';

export type BindingChange = 'add' | 'replace';

const decideChange = (
  current: readonly TagBinding[],
  given: readonly BindingInput[],
  change: BindingChange,
  nowMs: number,
): readonly TagBinding[] => {
  refuseInvalid(checkBindings(given, '/data'));
  const source = { nowMs, newId: () => newResourceId('tb') };
  const next =
    change === 'add'
      ? upsertBindings(current, given, source)
      : replaceBindings(current, given, source);
  refuseInvalid(checkBindingCount(next, '/data'));
  return next;
};

export const changeWorkspaceBindings = (
  context: WorkspacesContext,
  principal: Principal,
  workspaceId: string,
  given: readonly BindingInput[],
  change: BindingChange,
): Promise<WorkspaceAccessResult> =>
  changeWorkspace(
    context,
    (tx) => requireWorkspace(tx, principal, { workspaceId }, 'canManageTags'),
    async ({ workspace }, tx) => {
      const nowMs = context.clock.nowMs();
      const tagBindings = decideChange(workspace.tagBindings, given, change, nowMs);
      const next = { ...workspace, tagBindings };
      await announceBindings(tx, next, '/data');
      return next;
    },
  );

export const changeProjectBindings = (
  context: WorkspacesContext,
  principal: Principal,
  projectId: string,
  given: readonly BindingInput[],
  change: BindingChange,
): Promise<ProjectAccessResult> =>
  context.store.transact(async (tx) => {
    const access = await requireProject(tx, principal, projectId, 'canUpdate');
    const nowMs = context.clock.nowMs();
    const tagBindings = decideChange(access.project.tagBindings, given, change, nowMs);
    const project = { ...access.project, tagBindings };
    await requireNotOverridden(context, tx, project, '/data');
    await projectRecords.write(tx, [project.id], project);
    return { ...access, project };
  });

/** A flat tag in a request. */
export interface TagInput {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
}

/** A reference to a tag: by name, ignoring case, or by id. */
interface MeantTag {
  readonly name: string;
  readonly isInAnyCase: boolean;
}

const means = ({ name, isInAnyCase }: MeantTag, key: string): boolean =>
  key === name || (isInAnyCase && key.toLowerCase() === name);

/** The tags; those referenced by id must be on workspaces that the caller may see. */
const resolveTags = async (
  { store, listing }: WorkspacesContext,
  owner: OrganizationAccessResult,
  given: readonly TagInput[],
): Promise<readonly MeantTag[]> => {
  const scope = await loadScope(store, owner);
  const violations: Violation[] = [];
  const tags = await Promise.all(
    given.map(async ({ id, name }, at) => {
      if (name !== undefined) {
        violations.push(...checkFlatTag(name, `/data/${at}`));
        return { name: name.toLowerCase(), isInAnyCase: true };
      }
      if (id === undefined) {
        violations.push({ pointer: `/data/${at}`, text: 'a tag needs an id or a name' });
        return { name: '', isInAnyCase: false };
      }
      const tag = await listing.findTagById(scope, id);
      if (tag === undefined) throw notFound('tag');
      return { name: tag.name, isInAnyCase: false };
    }),
  );
  refuseInvalid(violations);
  return tags;
};

const changeFlatTags = async (
  context: WorkspacesContext,
  principal: Principal,
  workspaceId: string,
  given: readonly TagInput[],
  change: (current: readonly TagBinding[], tags: readonly MeantTag[]) => readonly TagBinding[],
): Promise<void> => {
  const owner = await requireWorkspace(context.store, principal, { workspaceId }, 'canManageTags');
  const tags = await resolveTags(context, owner, given);
  await changeWorkspace(
    context,
    (tx) => requireWorkspace(tx, principal, { workspaceId }, 'canManageTags'),
    async (access, tx) => {
      const tagBindings = change(access.workspace.tagBindings, tags);
      refuseInvalid(checkBindingCount(tagBindings, '/data'));
      const next = { ...access.workspace, tagBindings };
      await announceBindings(tx, next, '/data');
      return next;
    },
  );
};

/** Binds flat tags; a key that is already bound keeps its value. */
export const addFlatTags = (
  context: WorkspacesContext,
  principal: Principal,
  workspaceId: string,
  given: readonly TagInput[],
): Promise<void> =>
  changeFlatTags(context, principal, workspaceId, given, (current, tags) => {
    const missing = tags
      .filter((tag) => !current.some(({ key }) => means(tag, key)))
      .map(({ name }) => ({ key: name }));
    const source = { nowMs: context.clock.nowMs(), newId: () => newResourceId('tb') };
    return upsertBindings(current, missing, source);
  });

/** Removes flat tags; tags that are not bound are ignored. */
export const removeFlatTags = (
  context: WorkspacesContext,
  principal: Principal,
  workspaceId: string,
  given: readonly TagInput[],
): Promise<void> =>
  changeFlatTags(context, principal, workspaceId, given, (current, tags) =>
    current.filter(({ key, value }) => value !== null || !tags.some((tag) => means(tag, key))),
  );

export interface WorkspaceTags {
  readonly access: WorkspaceAccessResult;
  readonly names: readonly string[];
}

/** Flat tags of a workspace, in order of binding. */
export const loadFlatTags = async (
  { store }: WorkspacesContext,
  principal: Principal,
  workspaceId: string,
  search: string | undefined,
): Promise<WorkspaceTags> => {
  const access = await requireWorkspace(store, principal, { workspaceId });
  const names = access.workspace.tagBindings
    .filter(({ key, value }) => value === null && key.includes(search ?? ''))
    .map(({ key }) => key);
  return { access, names };
};
