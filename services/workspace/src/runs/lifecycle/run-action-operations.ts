/** Actions of people on a run. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { WorkspacePermission } from '../../workspaces/access/domain/workspace-permissions.ts';
import { findWorkspaceLocking } from '../../workspaces/model/workspace-lock-records.ts';
import { isDiscardable, type Run, STATUS_AFTER } from '../model/domain/run.ts';
import { runRecords } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { changeRun } from './run-changes.ts';
import { addComment } from './run-comment-operations.ts';
import { loadRunAccess } from './run-operations.ts';

export type RunAction = 'apply' | 'discard' | 'cancel' | 'force-cancel';

const ACTIONS = {
  apply: { kind: 'confirm', permission: 'canQueueApply' },
  discard: { kind: 'discard', permission: 'canQueueApply' },
  cancel: { kind: 'cancel', permission: 'canQueueApply' },
  'force-cancel': { kind: 'force_cancel', permission: 'canUpdate' },
} as const satisfies Record<
  RunAction,
  { readonly kind: keyof typeof STATUS_AFTER; readonly permission: WorkspacePermission }
>;

/**
 * @param comment reason, stored with the action; "" means none
 * @throws KeelsonError `workspace.conflict` when the run's status does not allow the action
 */
export const actOnRun = (
  { store, clock }: RunsContext,
  principal: Principal,
  runId: string,
  action: RunAction,
  comment: string,
): Promise<Run> =>
  store.transact(async (tx) => {
    const { kind, permission } = ACTIONS[action];
    await loadRunAccess(tx, principal, runId, permission);
    const nowMs = clock.nowMs();
    const userId = principal.kind === 'user' ? principal.id : undefined;
    const run = await changeRun(tx, runId, { kind, userId }, nowMs);
    if (comment !== '') {
      const event = STATUS_AFTER[kind];
      await addComment(tx, principal, { runId, body: comment, event, createdAtMs: nowMs });
    }
    return run;
  });

/** Discards the run that waits while holding the lock, so that this run is next. */
export const forceExecuteRun = (
  { store, clock }: RunsContext,
  principal: Principal,
  runId: string,
  comment: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const { run, workspace, permissions } = await loadRunAccess(tx, principal, runId, 'canReadRun');
    if (!permissions.canUpdate) {
      throw new KeelsonError('workspace.forbidden', {
        text: 'you are not authorized to force the execution of this run',
      });
    }
    const holder = (await findWorkspaceLocking(tx, workspace)).lock?.holder;
    const blocking = holder?.kind === 'run' ? await runRecords.find(tx, holder.id) : undefined;
    if (run.status !== 'pending' || blocking === undefined || !isDiscardable(blocking.status)) {
      throw new KeelsonError('workspace.conflict', {
        text: 'only a pending run behind one that waits for confirmation can be force-executed',
      });
    }
    const nowMs = clock.nowMs();
    const userId = principal.kind === 'user' ? principal.id : undefined;
    await changeRun(tx, blocking.id, { kind: 'discard', userId }, nowMs);
    if (comment !== '') {
      await addComment(tx, principal, { runId, body: comment, event: null, createdAtMs: nowMs });
    }
  });
