/** Reminders of upcoming auto-destroys. */
import { type TransactOptions, unlessDamaged } from '@keelson/storage';
import { decideAutoDestroy } from '../model/domain/auto-destroy.ts';
import { projectRecords } from '../model/project-records.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import { findWorkspaceState } from '../model/workspace-state-records.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { REMINDER_TRIGGER } from './domain/notification.ts';
import { queueNotificationFor } from './notification-queue-operations.ts';
import { notificationRecords, notificationReminders } from './notification-records.ts';

/** Time before the destruction. */
const REMIND_MS = 24 * 3600 * 1000;

const remind = (
  { store, clock }: WorkspacesContext,
  id: string,
  options: TransactOptions,
): Promise<void> =>
  store.transact(async (tx) => {
    const reminder = await notificationReminders.find(tx, id);
    const configuration = await notificationRecords.find(tx, id);
    const workspace =
      configuration && (await workspaceRecords.find(tx, configuration.subscribable.id));
    const project = workspace && (await projectRecords.find(tx, workspace.projectId));
    if (
      reminder === undefined ||
      configuration === undefined ||
      workspace === undefined ||
      project === undefined
    ) {
      return;
    }
    const nowMs = clock.nowMs();
    const { latestChangeAtMs } = await findWorkspaceState(tx, workspace);
    const { atMs } = decideAutoDestroy({ ...workspace, latestChangeAtMs }, project);
    if (atMs === null || atMs === reminder.remindedOfMs) return;
    if (atMs <= nowMs || atMs > nowMs + REMIND_MS) return;
    await queueNotificationFor(tx, configuration, workspace, {
      trigger: REMINDER_TRIGGER,
      message: `Destruction at ${new Date(atMs).toISOString()}`,
      atMs: nowMs,
      run: null,
    });
    notificationReminders.write(tx, [id], { remindedOfMs: atMs });
  }, options);

/** There is one reminder for each time of destruction. */
export const remindOfDestruction = async (
  context: WorkspacesContext,
  options: TransactOptions,
): Promise<void> => {
  for (const id of await notificationReminders.keys(context.store, [])) {
    await unlessDamaged(remind(context, id, options));
  }
};
