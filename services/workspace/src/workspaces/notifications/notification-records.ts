import {
  collection,
  deleteOwned,
  type Reads,
  readableOnly,
  type Transaction,
} from '@keelson/storage';
import { Type } from 'typebox';
import { byCreation } from '../../base/creation-order.ts';
import { normalizedEmail } from '../../identity/model/domain/organization.ts';
import type { User } from '../../identity/model/user-records.ts';
import {
  type DeliveryResponse,
  deliveryResponseShape,
  MAX_RESPONSES,
  type NotificationConfiguration,
  notificationConfigurationShape,
  notificationEventShape,
  REMINDER_TRIGGER,
} from './domain/notification.ts';

/**
 * Keyed by `nc-…`; the index has the id of the workspace, project or team, and for a team also that of its
 * organization. Written by `storeNotification` alone, which also writes the reminders.
 */
export const notificationRecords = collection('notifications', {
  scope: 'shared',
  version: 1,
  shape: notificationConfigurationShape,
  kind: 'notification',
  owner: [
    { kind: 'workspace', by: 'subscribable' },
    { kind: 'project', by: 'subscribable' },
    { kind: 'team', by: 'subscribable' },
  ],
  index: [
    {
      name: 'subscribable',
      values: ({ organizationId, subscribable: { kind, id } }) =>
        kind === 'teams' ? [id, organizationId] : [id],
    },
  ],
});

const owner = { kind: 'notification', by: '*' } as const;

/** `nc-…` with destruction reminders -> the time of destruction in the latest reminder. */
export const notificationReminders = collection('notification-reminders', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ remindedOfMs: Type.Number() }),
  owner,
});

/** `nc-…` -> responses to the latest notifications, newest first. */
const notificationResponses = collection('notification-responses', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ responses: Type.Array(deliveryResponseShape) }),
  owner,
});

/** `nc-…` -> the waiting events, from number `first` up to but excluding `next`. Absent if there are none. */
export const notificationQueues = collection('notification-queues', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({
    first: Type.Number(),
    next: Type.Number(),
    /** Attempts to send the first. */
    attempts: Type.Number(),
    /** Time of the next attempt. */
    dueAtMs: Type.Number(),
  }),
  owner,
});

/** `nc-…`, number -> event. */
export const notificationEvents = collection('notification-events', {
  scope: 'shared',
  version: 1,
  shape: notificationEventShape,
  owner,
});

export const storeNotification = async (
  tx: Transaction,
  configuration: NotificationConfiguration,
): Promise<void> => {
  const { id, enabled, triggers } = configuration;
  await notificationRecords.write(tx, [id], configuration);
  if (!enabled || !triggers.includes(REMINDER_TRIGGER)) notificationReminders.delete(tx, id);
  else if ((await notificationReminders.find(tx, id)) === undefined) {
    notificationReminders.write(tx, [id], { remindedOfMs: 0 });
  }
};

/** Removes the waiting events of a configuration. */
export const removeQueue = async (tx: Transaction, id: string): Promise<void> => {
  for (const number of await notificationEvents.keys(tx, [id])) {
    notificationEvents.delete(tx, id, number);
  }
  notificationQueues.delete(tx, id);
};

export const removeNotification = async (tx: Transaction, id: string): Promise<void> => {
  await deleteOwned(tx, { kind: 'notification', id });
  await notificationRecords.delete(tx, id);
};

/**
 * Configurations of a workspace, project or team that can be read, in order of creation; of an organization those
 * of its teams.
 */
export const loadNotifications = async (
  reads: Reads,
  ownerId: string,
): Promise<readonly NotificationConfiguration[]> => {
  const found = await notificationRecords.by.subscribable.records(readableOnly(reads), ownerId);
  return found.toSorted(byCreation);
};

/** Takes a user, and the address of the user, from the recipients of every configuration. */
export const removeRecipient = async (
  tx: Transaction,
  { id: userId, email }: Pick<User, 'id' | 'email'>,
): Promise<void> => {
  const address = normalizedEmail(email);
  for (const id of await notificationRecords.keys(tx, [])) {
    const configuration = await notificationRecords.find(readableOnly(tx), id);
    if (configuration === undefined) continue;
    const userIds = configuration.userIds.filter((other) => other !== userId);
    const emailAddresses = configuration.emailAddresses.filter(
      (other) => normalizedEmail(other) !== address,
    );
    const isListed =
      userIds.length < configuration.userIds.length ||
      emailAddresses.length < configuration.emailAddresses.length;
    if (isListed)
      await notificationRecords.write(tx, [id], { ...configuration, userIds, emailAddresses });
  }
};

/** Newest first. */
export const loadResponses = async (
  reads: Reads,
  id: string,
): Promise<readonly DeliveryResponse[]> =>
  (await notificationResponses.find(reads, id))?.responses ?? [];

export const addResponse = async (
  tx: Transaction,
  id: string,
  response: DeliveryResponse,
): Promise<void> => {
  const responses = [response, ...(await loadResponses(tx, id))].slice(0, MAX_RESPONSES);
  notificationResponses.write(tx, [id], { responses });
};
