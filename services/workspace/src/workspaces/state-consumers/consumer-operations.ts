import { itemsOn, type Page, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import {
  loadWorkspaceAccess,
  requireWorkspace,
  type WorkspaceAccessResult,
} from '../access/access-operations.ts';
import { loadVisible } from '../listing/visible-scope.ts';
import { consumerLists } from '../model/consumer-records.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';

/** Consumers may be listed only while the list decides who reads the state. */
const requireSelective = ({ workspace }: WorkspaceAccessResult): void => {
  const { globalRemoteState, projectRemoteState } = workspace.settings;
  const text = globalRemoteState
    ? 'consumers cannot be named while global-remote-state shares with every workspace'
    : 'consumers cannot be named while project-remote-state shares with the workspaces of the project';
  if (globalRemoteState || projectRemoteState) refuseInvalid([{ pointer: '/data', text }]);
};

const requireConsumers = async (
  tx: Transaction,
  principal: Principal,
  producer: WorkspaceAccessResult,
  ids: readonly string[],
): Promise<void> => {
  for (const [at, workspaceId] of ids.entries()) {
    if (workspaceId === producer.workspace.id) {
      refuseInvalid([
        { pointer: `/data/${at}/id`, text: 'a workspace cannot be its own consumer' },
      ]);
    }
    const { workspace } = await requireWorkspace(tx, principal, { workspaceId });
    if (workspace.organizationId !== producer.organization.id) throw notFound('workspace');
  }
};

/** Writes the list that `decide` makes of the present one. */
const changeConsumers = (
  { store }: WorkspacesContext,
  principal: Principal,
  workspaceId: string,
  decide: (
    tx: Transaction,
    producer: WorkspaceAccessResult,
    current: readonly string[],
  ) => Promise<readonly string[]>,
): Promise<void> =>
  store.transact(async (tx) => {
    const producer = await requireWorkspace(tx, principal, { workspaceId }, 'canUpdate');
    const current = (await consumerLists.find(tx, workspaceId))?.workspaceIds ?? [];
    const workspaceIds = [...new Set(await decide(tx, producer, current))];
    consumerLists.write(tx, [workspaceId], { workspaceIds });
  });

export const addConsumers = (
  context: WorkspacesContext,
  principal: Principal,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> =>
  changeConsumers(context, principal, workspaceId, async (tx, producer, current) => {
    requireSelective(producer);
    await requireConsumers(tx, principal, producer, ids);
    return [...current, ...ids];
  });

/** Replaces the list. Requires a caller who may see all of its workspaces. */
export const replaceConsumers = (
  context: WorkspacesContext,
  principal: Principal,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> =>
  changeConsumers(context, principal, workspaceId, async (tx, producer) => {
    const { isOwner, access } = producer.caller;
    if (!isOwner && !access.manageWorkspaces) throw notFound('workspace');
    requireSelective(producer);
    await requireConsumers(tx, principal, producer, ids);
    return ids;
  });

export const removeConsumers = (
  context: WorkspacesContext,
  principal: Principal,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> =>
  changeConsumers(context, principal, workspaceId, async (_tx, producer, current) => {
    requireSelective(producer);
    return current.filter((id) => !ids.includes(id));
  });

export interface ConsumerPage {
  readonly workspaces: readonly WorkspaceAccessResult[];
  readonly totalCount: number;
}

/**
 * The workspaces that may read the state and that the caller may see.
 * @param onlyConfigured the listed workspaces, whether or not the list decides
 */
export const listConsumers = async (
  { store, listing }: WorkspacesContext,
  principal: Principal,
  workspaceId: string,
  onlyConfigured: boolean,
  page: Page,
): Promise<ConsumerPage> => {
  const producer = await requireWorkspace(store, principal, { workspaceId });
  const load = async (ids: readonly string[]) => {
    const found = await Promise.all(ids.map((id) => workspaceRecords.find(store, id)));
    return Promise.all(
      found
        .filter((workspace) => workspace !== undefined)
        .map((workspace) => loadWorkspaceAccess(store, producer, workspace)),
    );
  };
  const { projectId, settings } = producer.workspace;
  if ((settings.globalRemoteState || settings.projectRemoteState) && !onlyConfigured) {
    const { ids, totalCount } = await listing.find({
      organizationId: producer.organization.id,
      visible: await loadVisible(store, producer.caller),
      projectId: settings.projectRemoteState ? projectId : undefined,
      exceptId: workspaceId,
      tags: [],
      excludeTags: [],
      tagged: [],
      runStatuses: [],
      page,
    });
    return { workspaces: await load(ids), totalCount };
  }
  const ids = (await consumerLists.find(store, workspaceId))?.workspaceIds ?? [];
  const readable = (await load(ids)).filter(({ permissions }) => permissions.canReadSettings);
  return { workspaces: itemsOn(page, readable), totalCount: readable.length };
};
