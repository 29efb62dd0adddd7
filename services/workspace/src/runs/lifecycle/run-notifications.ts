/** Queues notifications about the runs of a workspace. */
import { readableOnly, type Transaction } from '@keelson/storage';
import type { RunStatus } from '../../base/run-status.ts';
import { userRecords } from '../../identity/model/user-records.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import type { NotificationTrigger } from '../../workspaces/notifications/domain/notification.ts';
import { queueNotification } from '../../workspaces/notifications/notification-queue-operations.ts';
import { AUTO_DESTROY_SOURCE, isAssessment, isFinal, type Run } from '../model/domain/run.ts';

interface Notice {
  readonly trigger: NotificationTrigger;
  readonly message: string;
}

/** A person decided to discard the run, so the end is not an error and needs no attention. */
const OF_STATUS: { readonly [S in RunStatus]?: Notice } = {
  pending: { trigger: 'run:created', message: 'Run Created' },
  planning: { trigger: 'run:planning', message: 'Run Planning' },
  planned: { trigger: 'run:needs_attention', message: 'Run Needs Attention' },
  planned_and_saved: { trigger: 'run:needs_attention', message: 'Run Planned and Saved' },
  planned_and_finished: { trigger: 'run:completed', message: 'Run Planned and Finished' },
  applying: { trigger: 'run:applying', message: 'Run Applying' },
  applied: { trigger: 'run:completed', message: 'Run Applied' },
  discarded: { trigger: 'run:completed', message: 'Run Discarded' },
  errored: { trigger: 'run:errored', message: 'Run Errored' },
  canceled: { trigger: 'run:errored', message: 'Run Canceled' },
  force_canceled: { trigger: 'run:errored', message: 'Run Force-Canceled' },
};

const ofAssessment = (run: Run): readonly Notice[] => {
  if (run.status === 'errored') {
    return [{ trigger: 'assessment:failed', message: 'Assessment Failed' }];
  }
  return run.status === 'planned_and_finished' && run.planned?.hasChanges === true
    ? [{ trigger: 'assessment:drifted', message: 'Drift Detected' }]
    : [];
};

const noticesOf = (run: Run): readonly Notice[] => {
  if (isAssessment(run)) return ofAssessment(run);
  const notice = OF_STATUS[run.status];
  const isResult = run.source === AUTO_DESTROY_SOURCE && isFinal(run.status);
  return [
    ...(notice === undefined ? [] : [notice]),
    ...(isResult
      ? [
          {
            trigger: 'workspace:auto_destroy_run_results',
            message: `Auto-Destroy ${notice?.message ?? run.status}`,
          } as const,
        ]
      : []),
  ];
};

const findUsername = async (tx: Transaction, userId: string | null): Promise<string | null> =>
  (await userRecords.find(readableOnly(tx), userId ?? ''))?.username ?? null;

/** Queues the notifications of a run that has come to another status, in the same transaction. */
export const notifyOfRun = async (
  tx: Transaction,
  workspace: Workspace,
  run: Run,
): Promise<void> => {
  for (const { trigger, message } of noticesOf(run)) {
    await queueNotification(tx, workspace, trigger, async () => ({
      message,
      atMs: run.statusTimesMs[run.status] ?? run.createdAtMs,
      run: {
        id: run.id,
        message: run.message,
        status: run.status,
        createdAtMs: run.createdAtMs,
        createdBy: await findUsername(tx, run.createdById),
        updatedBy: await findUsername(tx, run.actorIds?.[run.status] ?? null),
      },
    }));
  }
};
