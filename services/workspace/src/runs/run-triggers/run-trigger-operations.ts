/** Creates, lists, shows and deletes run triggers. */

import { KeelsonError } from '@keelson/errors';
import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, unlessDamaged } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import {
  type OrganizationAccessResult,
  requireOrganizationOf,
} from '../../identity/access/organization-access-operations.ts';
import {
  loadWorkspaceAccess,
  requireWorkspace,
  type WorkspaceAccessResult,
} from '../../workspaces/access/access-operations.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { MAX_CHAINED, MAX_SOURCES, MAX_TARGETS, type RunTrigger } from './domain/run-trigger.ts';
import {
  loadRunTriggers,
  type RunTriggerDirection,
  runTriggerRecords,
} from './run-trigger-records.ts';

/** A trigger with its two workspaces, each with the caller's permissions on it. */
export interface RunTriggerAccess {
  readonly trigger: RunTrigger;
  readonly workspace: WorkspaceAccessResult;
  readonly source: WorkspaceAccessResult;
}

const SOURCE_POINTER = '/data/relationships/sourceable/data/id';

const refuseSource = (text: string): void => refuseInvalid([{ pointer: SOURCE_POINTER, text }]);

/** Refuses a trigger that would close a cycle, in which runs would queue each other for ever. */
const requireNoCycle = async (
  reads: Reads,
  workspaceId: string,
  sourceId: string,
): Promise<void> => {
  const seen = new Set([sourceId]);
  for (const id of seen) {
    if (id === workspaceId) {
      refuseSource('the workspace is, directly or by other run triggers, a source of this source');
    }
    if (seen.size > MAX_CHAINED) {
      refuseSource(`more than ${MAX_CHAINED} workspaces are sources of this source`);
    }
    for (const further of await loadRunTriggers(reads, id, 'inbound')) seen.add(further.sourceId);
  }
};

const requireRoom = async (reads: Reads, workspaceId: string, sourceId: string): Promise<void> => {
  const triggers = await loadRunTriggers(reads, workspaceId, 'inbound');
  if (triggers.some((trigger) => trigger.sourceId === sourceId))
    refuseSource('the workspace has a run trigger of this source');
  if (triggers.length >= MAX_SOURCES) {
    throw new KeelsonError('workspace.conflict', {
      text: `a workspace has at most ${MAX_SOURCES} source workspaces`,
    });
  }
  if ((await runTriggerRecords.by.sourceId.keys(reads, sourceId)).length >= MAX_TARGETS) {
    throw new KeelsonError('workspace.conflict', {
      text: `a workspace is the source of at most ${MAX_TARGETS} others`,
    });
  }
};

/** Creates a trigger. Requires an administrator of the workspace who may read the runs of the source. */
export const createRunTrigger = (
  { store, clock }: RunsContext,
  principal: Principal,
  workspaceId: string,
  sourceId: string,
): Promise<RunTriggerAccess> =>
  store.transact(async (tx) => {
    const workspace = await requireWorkspace(tx, principal, { workspaceId }, 'canUpdate');
    const source = await requireWorkspace(tx, principal, { workspaceId: sourceId }, 'canReadRun');
    const { organizationId } = workspace.workspace;
    if (source.workspace.organizationId !== organizationId) throw notFound('workspace');
    await requireNoCycle(tx, workspaceId, sourceId);
    await requireRoom(tx, workspaceId, sourceId);
    const trigger: RunTrigger = {
      id: newResourceId('rt'),
      organizationId,
      workspaceId,
      sourceId,
      createdAtMs: clock.nowMs(),
    };
    await runTriggerRecords.write(tx, [trigger.id], trigger);
    return { trigger, workspace, source };
  });

const loadOther = async (
  reads: Reads,
  owner: OrganizationAccessResult,
  workspaceId: string,
): Promise<WorkspaceAccessResult> => {
  const workspace = await workspaceRecords.find(reads, workspaceId);
  if (workspace === undefined) throw notFound('workspace');
  return loadWorkspaceAccess(reads, owner, workspace);
};

/** In order of creation. */
export const listRunTriggers = async (
  { store }: RunsContext,
  principal: Principal,
  workspaceId: string,
  direction: RunTriggerDirection,
): Promise<readonly RunTriggerAccess[]> => {
  const own = await requireWorkspace(store, principal, { workspaceId }, 'canReadRun');
  const triggers = await loadRunTriggers(store, workspaceId, direction);
  const found = await Promise.all(
    triggers.map(async (trigger) => {
      const otherId = direction === 'inbound' ? trigger.sourceId : trigger.workspaceId;
      const other = await unlessDamaged(loadOther(store, own, otherId));
      if (other === undefined) return [];
      return direction === 'inbound'
        ? [{ trigger, workspace: own, source: other }]
        : [{ trigger, source: own, workspace: other }];
    }),
  );
  return found.flat();
};

/**
 * A trigger, for callers who may read the runs of either workspace; they also see the other workspace's name.
 * @throws KeelsonError `workspace.not_found`
 */
export const requireRunTrigger = async (
  reads: Reads,
  principal: Principal,
  triggerId: string,
): Promise<RunTriggerAccess> => {
  const trigger = await runTriggerRecords.find(reads, triggerId);
  if (trigger === undefined) throw notFound('run trigger');
  const owner = await requireOrganizationOf(
    reads,
    principal,
    trigger.organizationId,
    'run trigger',
  );
  const workspace = await loadOther(reads, owner, trigger.workspaceId);
  const source = await loadOther(reads, owner, trigger.sourceId);
  if (!workspace.permissions.canReadRun && !source.permissions.canReadRun) {
    throw notFound('run trigger');
  }
  return { trigger, workspace, source };
};

/** Deletes a trigger. Requires an administrator of the workspace in which the runs are queued. */
export const deleteRunTrigger = (
  { store }: RunsContext,
  principal: Principal,
  triggerId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const { workspace } = await requireRunTrigger(tx, principal, triggerId);
    if (!workspace.permissions.canUpdate) throw notFound('run trigger');
    await runTriggerRecords.delete(tx, triggerId);
  });
