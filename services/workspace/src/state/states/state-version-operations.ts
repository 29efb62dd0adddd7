/** Creates, reads and rolls back state versions. Their bytes arrive in `state-upload-operations.ts`. */

import { KeelsonError } from '@keelson/errors';
import { newResourceId } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import {
  requireWorkspace,
  type WorkspaceAccessResult,
} from '../../workspaces/access/access-operations.ts';
import type { WorkspacePermission } from '../../workspaces/access/domain/workspace-permissions.ts';
import { KIND_NAMES, toHolder } from '../../workspaces/locking/lock-holder.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import { shareContent } from '../contents/state-content-operations.ts';
import {
  type AnnouncedState,
  decideSuccession,
  decideWriter,
  type StateVersion,
  withFinalized,
} from '../model/domain/state-version.ts';
import type { StateAccess } from '../seams/state-contributions.ts';
import { restoreInstances } from './instance-operations.ts';
import { stateSummaries, stateVersionRecords } from './state-version-records.ts';

/** @throws KeelsonError `workspace.not_found` when it is absent or the caller lacks the permission */
export const requireStateVersion = async (
  reads: Reads,
  principal: Principal,
  id: string,
  permission: WorkspacePermission,
): Promise<StateAccess> => {
  const version = await stateVersionRecords.find(reads, id);
  if (version === undefined) throw notFound('state version');
  const { workspaceId } = version;
  const access = await requireWorkspace(reads, principal, { workspaceId }, permission);
  return { ...access, version };
};

/** @throws KeelsonError `workspace.not_found` also when the workspace has no state yet */
export const requireCurrentState = async (
  reads: Reads,
  principal: Principal,
  workspaceId: string,
  permission: WorkspacePermission,
): Promise<StateAccess> => {
  const access = await requireWorkspace(reads, principal, { workspaceId }, permission);
  const { currentId } = access.workspace.state;
  const version = currentId === null ? undefined : await stateVersionRecords.find(reads, currentId);
  if (version === undefined) throw notFound('current state version');
  return { ...access, version };
};

const requireWriter = ({ lock, unlockedRunId }: Workspace, principal: Principal): void => {
  const refusal = decideWriter(lock, unlockedRunId, toHolder(principal));
  switch (refusal?.kind) {
    case undefined:
      return;
    case 'not_locked':
      throw new KeelsonError('workspace.state_needs_lock');
    case 'held_by_other':
      throw new KeelsonError('workspace.state_locked_by_other', {
        kind: KIND_NAMES[refusal.holder.kind],
        id: refusal.holder.id,
      });
  }
};

/** Discards a version that will never get its bytes. */
const discardPending = async (tx: Transaction, { state }: Workspace): Promise<void> => {
  const pending =
    state.pendingId && (await stateVersionRecords.find(readableOnly(tx), state.pendingId));
  if (!pending || pending.status !== 'pending') return;
  stateVersionRecords.write(tx, [pending.id], { ...pending, status: 'discarded' });
};

/**
 * The workspace after its lock was removed by force: versions created under that lock will never get their
 * bytes.
 */
export const withoutPendingState = async (
  tx: Transaction,
  workspace: Workspace,
): Promise<Workspace> => {
  await discardPending(tx, workspace);
  return { ...workspace, state: { ...workspace.state, pendingId: null } };
};

/** The workspace without the pending versions of this run, which will not be uploaded any more. */
export const withoutPendingStateOf = async (
  tx: Transaction,
  workspace: Workspace,
  runId: string,
): Promise<Workspace> => {
  const { pendingId } = workspace.state;
  const pending =
    pendingId === null ? undefined : await stateVersionRecords.find(readableOnly(tx), pendingId);
  return pending?.createdBy.id === runId ? withoutPendingState(tx, workspace) : workspace;
};

/** The workspace after its lock is released: the newest intermediate state becomes current. */
export const withPromotedState = async (reads: Reads, workspace: Workspace): Promise<Workspace> => {
  const { newestId, currentId } = workspace.state;
  const newest =
    newestId === null || newestId === currentId
      ? undefined
      : await stateVersionRecords.find(readableOnly(reads), newestId);
  if (newest === undefined) return workspace;
  return {
    ...workspace,
    state: withFinalized(workspace.state, { ...newest, isIntermediate: false }),
    latestChangeAtMs: newest.createdAtMs,
  };
};

export interface GivenState extends AnnouncedState {
  readonly isIntermediate: boolean;
  readonly runId: string | null;
}

/**
 * The workspace, if the caller may write states to it now.
 * @throws KeelsonError `workspace.state_…` when the caller does not hold the lock
 */
export const requireWritable = async (
  reads: Reads,
  principal: Principal,
  workspaceId: string,
): Promise<WorkspaceAccessResult> => {
  const access = await requireWorkspace(
    reads,
    principal,
    { workspaceId },
    'canCreateStateVersions',
  );
  requireWriter(access.workspace, principal);
  return access;
};

/** @throws KeelsonError `workspace.state_…_conflict` when the state may not follow the newest one */
export const requireSuccession = async (
  reads: Reads,
  { state }: Workspace,
  next: AnnouncedState,
): Promise<void> => {
  // A forced state follows any other, also one that cannot be read.
  const newest =
    state.newestId === null || next.isForced
      ? undefined
      : await stateVersionRecords.find(reads, state.newestId);
  switch (decideSuccession(newest, next)) {
    case 'lineage_differs':
      throw new KeelsonError('workspace.state_lineage_conflict');
    case 'serial_too_low':
      throw new KeelsonError('workspace.state_serial_conflict');
    case 'content_differs':
      throw new KeelsonError('workspace.state_md5_conflict');
    case 'accepted':
  }
};

/**
 * Creates a pending version within a transaction.
 * @throws KeelsonError as `requireWritable`, `requireSuccession`
 */
export const announceInTransaction = async (
  { clock }: ServiceContext,
  tx: Transaction,
  principal: Principal,
  workspaceId: string,
  given: GivenState,
): Promise<StateAccess> => {
  const access = await requireWritable(tx, principal, workspaceId);
  const { workspace } = access;
  await requireSuccession(tx, workspace, given);
  await discardPending(tx, workspace);
  const { serial, md5, lineage, isForced, isIntermediate, runId } = given;
  const { kind, id } = toHolder(principal);
  const version: StateVersion = {
    id: newResourceId('sv'),
    number: workspace.state.newestNumber + 1,
    workspaceId,
    organizationId: workspace.organizationId,
    serial,
    md5,
    lineage,
    isForced,
    status: 'pending',
    isIntermediate,
    state: null,
    jsonState: null,
    formatVersion: null,
    runtimeVersion: null,
    managedCount: 0,
    outputCount: 0,
    // The token of a run writes states as its own run, whichever run the request names.
    runId: kind === 'run' ? id : runId,
    createdBy: { kind, id },
    announcedWith: principal.tokenId,
    rollbackOf: null,
    createdAtMs: clock.nowMs(),
  };
  stateVersionRecords.write(tx, [version.id], version);
  const state = {
    ...workspace.state,
    pendingId: version.id,
    newestNumber: version.number,
  };
  workspaceRecords.write(tx, [workspaceId], { ...workspace, state });
  return { ...access, version };
};

/**
 * Creates a pending version.
 * @throws KeelsonError as `requireWritable`, `requireSuccession`
 */
export const announceState = (
  context: ServiceContext,
  principal: Principal,
  workspaceId: string,
  given: GivenState,
): Promise<StateAccess> =>
  context.store.transact((tx) => announceInTransaction(context, tx, principal, workspaceId, given));

/**
 * Makes an older state current again, byte for byte. The new version has the older serial, so that the next
 * apply increments it from there.
 */
export const rollBackState = (
  { store, clock }: ServiceContext,
  principal: Principal,
  workspaceId: string,
  targetId: string,
): Promise<StateAccess> =>
  store.transact(async (tx) => {
    const access = await requireWorkspace(tx, principal, { workspaceId }, 'canCreateStateVersions');
    const { workspace } = access;
    requireWriter(workspace, principal);
    const target = await stateVersionRecords.find(tx, targetId);
    if (target?.workspaceId !== workspaceId) throw notFound('state version');
    if (target.status !== 'finalized') {
      throw new KeelsonError('workspace.conflict', {
        text: 'Only a state version whose state is kept can be rolled back to.',
      });
    }
    await discardPending(tx, workspace);
    const { kind, id } = toHolder(principal);
    const version: StateVersion = {
      ...target,
      id: newResourceId('sv'),
      number: workspace.state.newestNumber + 1,
      isIntermediate: false,
      state: await shareContent(tx, target.state),
      jsonState: await shareContent(tx, target.jsonState),
      runId: null,
      createdBy: { kind, id },
      announcedWith: principal.tokenId,
      rollbackOf: target.id,
      createdAtMs: clock.nowMs(),
    };
    stateVersionRecords.write(tx, [version.id], version);
    const summary = await stateSummaries.find(tx, target.id);
    if (summary !== undefined) stateSummaries.write(tx, [version.id], summary);
    await restoreInstances(tx, workspace.state.newestId, target.id, version.id);
    workspaceRecords.write(tx, [workspaceId], {
      ...workspace,
      state: {
        ...withFinalized(workspace.state, version),
        pendingId: null,
        newestNumber: version.number,
      },
      latestChangeAtMs: version.createdAtMs,
    });
    return { ...access, version };
  });
