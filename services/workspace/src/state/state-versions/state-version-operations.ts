/** Creates, reads and rolls back state versions. Their bytes arrive in `state-upload-operations.ts`. */

import { KeelsonError } from '@keelson/errors';
import { newResourceId } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly, type Transaction, unlessDamaged } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import {
  requireWorkspace,
  type WorkspaceAccessResult,
} from '../../workspaces/access/access-operations.ts';
import type { WorkspacePermission } from '../../workspaces/access/domain/workspace-permissions.ts';
import { KIND_NAMES, toHolder } from '../../workspaces/locking/lock-holder.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import type { WorkspaceState } from '../../workspaces/model/domain/workspace-state.ts';
import { findWorkspaceLocking } from '../../workspaces/model/workspace-lock-records.ts';
import {
  findWorkspaceState,
  storeWorkspaceState,
  writeWorkspaceState,
} from '../../workspaces/model/workspace-state-records.ts';
import { shareContent } from '../contents/state-content-operations.ts';
import {
  type AnnouncedState,
  decideSuccession,
  decideWriter,
  type StateVersion,
  withCurrent,
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
  const { currentId } = await findWorkspaceState(reads, access.workspace);
  const version = currentId === null ? undefined : await stateVersionRecords.find(reads, currentId);
  if (version === undefined) throw notFound('current state version');
  return { ...access, version };
};

const requireWriter = async (
  reads: Reads,
  workspace: Workspace,
  principal: Principal,
): Promise<void> => {
  const { lock, unlockedRunId } = await findWorkspaceLocking(reads, workspace);
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
const discardPending = async (
  tx: Transaction,
  { pendingId }: Pick<WorkspaceState, 'pendingId'>,
): Promise<void> => {
  const pending = pendingId && (await stateVersionRecords.find(readableOnly(tx), pendingId));
  if (!pending || pending.status !== 'pending') return;
  stateVersionRecords.write(tx, [pending.id], { ...pending, status: 'discarded' });
};

/**
 * The workspace after its lock was removed by force: versions created under that lock will never get their
 * bytes. Locks are released whether or not the summary of the states can be read.
 */
export const withoutPendingState = async (
  tx: Transaction,
  workspace: Workspace,
): Promise<Workspace> => {
  const state = await unlessDamaged(findWorkspaceState(tx, workspace));
  if (state === undefined || state.pendingId === null) return workspace;
  await discardPending(tx, state);
  return storeWorkspaceState(tx, workspace, { ...state, pendingId: null });
};

/** The workspace without the pending versions of this run, which will not be uploaded any more. */
export const withoutPendingStateOf = async (
  tx: Transaction,
  workspace: Workspace,
  runId: string,
): Promise<Workspace> => {
  const reads = readableOnly(tx);
  const state = await unlessDamaged(findWorkspaceState(tx, workspace));
  const pending = await stateVersionRecords.find(reads, state?.pendingId ?? '');
  return pending?.createdBy.id === runId ? withoutPendingState(tx, workspace) : workspace;
};

/** The workspace after its lock is released: the newest intermediate state becomes current. */
export const withPromotedState = async (
  tx: Transaction,
  workspace: Workspace,
): Promise<Workspace> => {
  const state = await unlessDamaged(findWorkspaceState(tx, workspace));
  if (state === undefined) return workspace;
  const { newestId, currentId } = state;
  const newest =
    newestId === null || newestId === currentId
      ? undefined
      : await stateVersionRecords.find(readableOnly(tx), newestId);
  return newest === undefined
    ? workspace
    : storeWorkspaceState(tx, workspace, withCurrent(state, newest));
};

export interface StateInput extends AnnouncedState {
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
  await requireWriter(reads, access.workspace, principal);
  return access;
};

/** @throws KeelsonError `workspace.state_…_conflict` when the state may not follow the newest one */
export const requireSuccession = async (
  reads: Reads,
  { newestId }: Pick<WorkspaceState, 'newestId'>,
  next: AnnouncedState,
): Promise<void> => {
  // A forced state follows any other, also one that cannot be read.
  const newest =
    newestId === null || next.isForced
      ? undefined
      : await stateVersionRecords.find(reads, newestId);
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
  given: StateInput,
): Promise<StateAccess> => {
  const access = await requireWritable(tx, principal, workspaceId);
  const { workspace } = access;
  const state = await findWorkspaceState(tx, workspace);
  await requireSuccession(tx, state, given);
  await discardPending(tx, state);
  const { serial, md5, lineage, isForced, isIntermediate, runId } = given;
  const { kind, id } = toHolder(principal);
  const version: StateVersion = {
    id: newResourceId('sv'),
    number: state.newestNumber + 1,
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
  const announced = { ...state, pendingId: version.id, newestNumber: version.number };
  await writeWorkspaceState(tx, workspace, announced);
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
  given: StateInput,
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
    await requireWriter(tx, workspace, principal);
    const target = await stateVersionRecords.find(tx, targetId);
    if (target?.workspaceId !== workspaceId) throw notFound('state version');
    if (target.status !== 'finalized') {
      throw new KeelsonError('workspace.conflict', {
        text: 'Only a state version whose state is kept can be rolled back to.',
      });
    }
    const state = await findWorkspaceState(tx, workspace);
    await discardPending(tx, state);
    const { kind, id } = toHolder(principal);
    const version: StateVersion = {
      ...target,
      id: newResourceId('sv'),
      number: state.newestNumber + 1,
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
    await restoreInstances(tx, state.newestId, target.id, version.id);
    await writeWorkspaceState(tx, workspace, {
      ...withCurrent(state, version),
      pendingId: null,
      newestNumber: version.number,
    });
    return { ...access, version };
  });
