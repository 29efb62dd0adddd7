/** The flat tags of an organization. A tag exists while a workspace that the caller may see carries it. */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { notFound } from '../../base/not-found.ts';
import { decideOrganizationPermissions } from '../../identity/access/domain/organization-permissions.ts';
import { requireOrganization } from '../../identity/access/organization-access-operations.ts';
import { requireWorkspace } from '../access/access-operations.ts';
import { findVisibleIds, loadScope } from '../listing/visible-scope.ts';
import type { OrganizationTag, TagSearch } from '../listing/workspace-listing.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { addFlatTags } from './tag-operations.ts';

export const listOrganizationTags = async (
  { store, listing }: WorkspacesContext,
  principal: Principal,
  organizationName: string,
  { nameContains, notOnWorkspaceId }: TagSearch,
): Promise<readonly OrganizationTag[]> => {
  const owner = await requireOrganization(store, principal, organizationName);
  const [excludedId] = await findVisibleIds(
    store,
    owner,
    notOnWorkspaceId ? [notOnWorkspaceId] : [],
  );
  const scope = await loadScope(store, owner);
  return listing.listTags(scope, { nameContains, notOnWorkspaceId: excludedId });
};

const isFlat = (name: string) => (binding: { readonly key: string; readonly value: unknown }) =>
  binding.key === name && binding.value === null;

/** Removes the tags from all workspaces, each in its own transaction. */
export const deleteOrganizationTags = async (
  { store, listing }: WorkspacesContext,
  principal: Principal,
  organizationName: string,
  tagIds: readonly string[],
): Promise<void> => {
  const owner = await requireOrganization(store, principal, organizationName);
  const { organization, caller } = owner;
  if (!decideOrganizationPermissions(caller).canManageTags) throw notFound('organization');
  const scope = await loadScope(store, owner);
  const found = await Promise.all(tagIds.map((id) => listing.findTagById(scope, id)));
  const names = found.map((tag) => {
    if (tag === undefined) throw notFound('tag');
    return tag.name;
  });
  for (const name of names) {
    for (const workspaceId of await listing.findTagCarriers(organization.id, name)) {
      await store.transact(async (tx) => {
        const workspace = await workspaceRecords.find(tx, workspaceId);
        if (workspace === undefined) return;
        const isTag = isFlat(name);
        const tagBindings = workspace.tagBindings.filter((binding) => !isTag(binding));
        await workspaceRecords.write(tx, workspaceId, { ...workspace, tagBindings });
      });
    }
  }
};

/** Binds one tag to several workspaces. */
export const bindTagToWorkspaces = async (
  context: WorkspacesContext,
  principal: Principal,
  tagId: string,
  workspaceIds: readonly string[],
): Promise<void> => {
  const { store, listing } = context;
  // All workspaces are checked before the first one is changed.
  await Promise.all(
    workspaceIds.map(async (workspaceId) => {
      const access = await requireWorkspace(store, principal, { workspaceId }, 'canManageTags');
      const tag = await listing.findTagById(await loadScope(store, access), tagId);
      if (tag === undefined) throw notFound('tag');
    }),
  );
  for (const workspaceId of workspaceIds) {
    await addFlatTags(context, principal, workspaceId, [{ id: tagId }]);
  }
};
