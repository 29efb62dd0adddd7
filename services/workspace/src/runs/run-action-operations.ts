/** What people do with a run that is there. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { WorkspacePermission } from '../access/domain/workspace-permissions.ts';
import type { ServiceContext } from '../service-context.ts';
import { isDiscardable, type Run, STATUS_AFTER } from './domain/run.ts';
import { changeRun } from './run-changes.ts';
import { addComment } from './run-comment-operations.ts';
import { loadRunAccess } from './run-operations.ts';
import { runRecords } from './run-records.ts';

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
 * @param comment why, kept with what happened; "" is none
 * @throws KeelsonError `workspace.conflict` where the run's status does not allow it
 */
export const actOnRun = (
  { store, clock }: ServiceContext,
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

/** Discards the run that waits with the lock, so that this one is next. */
export const forceExecuteRun = (
  { store, clock }: ServiceContext,
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
    const holder = workspace.lock?.holder;
    const blocking = holder?.kind === 'run' ? await runRecords.find(tx, holder.id) : undefined;
    if (run.status !== 'pending' || blocking === undefined || !isDiscardable(blocking.status)) {
      throw new KeelsonError('workspace.conflict', {
        text: 'only a pending run behind one that waits to be confirmed is forced',
      });
    }
    const nowMs = clock.nowMs();
    const userId = principal.kind === 'user' ? principal.id : undefined;
    await changeRun(tx, blocking.id, { kind: 'discard', userId }, nowMs);
    if (comment !== '') {
      await addComment(tx, principal, { runId, body: comment, event: null, createdAtMs: nowMs });
    }
  });
