/** Events waiting to be sent, written in the transaction in which they happen. */

import { Principal } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import { type Reads, readableOnly, type Transaction, unlessDamaged } from '@keelson/storage';
import type { Organization } from '../../identity/model/domain/organization.ts';
import { organizationRecords } from '../../identity/model/organization-records.ts';
import { findWorkspacePermissions } from '../access/access-operations.ts';
import type { Workspace } from '../model/domain/workspace.ts';
import {
  MAX_WAITING,
  type NotificationConfiguration,
  type NotificationEvent,
  type NotificationTrigger,
} from './domain/notification.ts';
import {
  loadNotifications,
  notificationEvents,
  notificationQueues,
} from './notification-records.ts';

export interface RunReader {
  readonly kind: 'user' | 'team';
  readonly id: string;
}

/** Whether a user or a team may currently read the runs of the workspace. */
export const mayReadRuns = async (
  reads: Reads,
  reader: RunReader,
  workspace: Workspace,
): Promise<boolean> => {
  const principal = messageOf(Principal, reader);
  return (await findWorkspacePermissions(reads, principal, workspace))?.canReadRun === true;
};

const enqueue = async (
  tx: Transaction,
  { id }: NotificationConfiguration,
  event: NotificationEvent,
): Promise<void> => {
  const queue = (await notificationQueues.find(readableOnly(tx), id)) ?? {
    first: 0,
    next: 0,
    attempts: 0,
    dueAtMs: 0,
  };
  if (queue.next - queue.first >= MAX_WAITING) return;
  notificationEvents.write(tx, [id, String(queue.next)], event);
  notificationQueues.write(tx, [id], { ...queue, next: queue.next + 1 });
};

/** The event without organization and workspace names. */
type RunEventFacts = Pick<NotificationEvent, 'trigger' | 'message' | 'atMs' | 'run'>;

const toEvent = (
  happening: RunEventFacts,
  workspace: Workspace,
  organization: Organization,
): NotificationEvent => ({
  ...happening,
  workspaceId: workspace.id,
  workspaceName: workspace.name,
  organizationName: organization.name,
});

/** Queues an event of a workspace for one configuration. */
export const queueNotificationFor = async (
  tx: Transaction,
  configuration: NotificationConfiguration,
  workspace: Workspace,
  happening: RunEventFacts,
): Promise<void> => {
  const organization = await organizationRecords.find(tx, workspace.organizationId);
  if (organization === undefined) return;
  await enqueue(tx, configuration, toEvent(happening, workspace, organization));
};

/**
 * Queues an event for every enabled configuration of the workspace, its project and the teams that may read
 * its runs.
 * @param describe the rest of the event; called only if there is a recipient
 */
export const queueNotification = async (
  tx: Transaction,
  workspace: Workspace,
  trigger: NotificationTrigger,
  describe: () => Promise<Omit<RunEventFacts, 'trigger'>>,
): Promise<void> => {
  const wanted = async (ownerId: string) =>
    (await loadNotifications(tx, ownerId)).filter(
      ({ enabled, triggers }) => enabled && triggers.includes(trigger),
    );
  const own = [...(await wanted(workspace.id)), ...(await wanted(workspace.projectId))];
  const ofTeams = await wanted(workspace.organizationId);
  if (own.length + ofTeams.length === 0) return;
  const organization = await organizationRecords.find(tx, workspace.organizationId);
  if (organization === undefined) return;
  const event = toEvent({ ...(await describe()), trigger }, workspace, organization);
  for (const configuration of own) await enqueue(tx, configuration, event);
  for (const configuration of ofTeams) {
    if (
      await unlessDamaged(
        mayReadRuns(tx, { kind: 'team', id: configuration.subscribable.id }, workspace),
      )
    ) {
      await enqueue(tx, configuration, event);
    }
  }
};
