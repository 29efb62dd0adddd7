/** Notification configurations: made, listed, changed, verified and deleted. */
import { isDeepStrictEqual } from 'node:util';
import { KeelsonError } from '@keelson/errors';
import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import type { OrganizationAccessResult } from '../../identity/access/organization-access-operations.ts';
import { requireTeam } from '../../identity/access/team-access.ts';
import { membershipRecords } from '../../identity/model/team-records.ts';
import { requireProject, requireWorkspace } from '../access/access-operations.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { send } from './delivery-operations.ts';
import {
  checkNotification,
  type DeliveryResponse,
  type NotificationConfiguration,
  type NotificationSettings,
  type Subscribable,
} from './domain/notification.ts';
import {
  addResponse,
  loadNotifications,
  loadResponses,
  notificationRecords,
  removeNotification,
  removeQueue,
  storeNotification,
} from './notification-records.ts';

export interface NotificationView {
  readonly configuration: NotificationConfiguration;
  /** Newest first. */
  readonly responses: readonly DeliveryResponse[];
}

export type NotificationInput = {
  readonly [K in keyof NotificationSettings]?: NotificationSettings[K] | undefined;
};

/**
 * Requires a caller who may change the subject of the configuration, because addresses of
 * destinations are secrets. Organization tokens are refused.
 * @throws KeelsonError `workspace.not_found`
 */
const requireSubscribable = async (
  reads: Reads,
  principal: Principal,
  { kind, id }: Subscribable,
): Promise<OrganizationAccessResult> => {
  if (principal.kind === 'organization') throw notFound('notification configuration');
  if (kind === 'workspaces') {
    return requireWorkspace(reads, principal, { workspaceId: id }, 'canUpdate');
  }
  if (kind === 'projects') return requireProject(reads, principal, id, 'canUpdate');
  const team = await requireTeam(reads, principal, id);
  if (!team.canUpdate) throw notFound('team');
  return team;
};

const requireConfiguration = async (
  reads: Reads,
  principal: Principal,
  id: string,
): Promise<NotificationConfiguration> => {
  const configuration = await notificationRecords.find(reads, id);
  if (configuration === undefined) throw notFound('notification configuration');
  await requireSubscribable(reads, principal, configuration.subscribable);
  return configuration;
};

const toView = async (
  reads: Reads,
  configuration: NotificationConfiguration,
): Promise<NotificationView> => ({
  configuration,
  responses: await loadResponses(reads, configuration.id),
});

export const showNotification = async (
  { store }: WorkspacesContext,
  principal: Principal,
  id: string,
): Promise<NotificationView> => toView(store, await requireConfiguration(store, principal, id));

/** In order of creation. */
export const listNotifications = async (
  { store }: WorkspacesContext,
  principal: Principal,
  subscribable: Subscribable,
): Promise<readonly NotificationView[]> => {
  await requireSubscribable(store, principal, subscribable);
  const configurations = await loadNotifications(store, subscribable.id);
  return Promise.all(configurations.map((configuration) => toView(store, configuration)));
};

/** @throws KeelsonError `jsonapi.invalid_attribute` */
const check = async (
  { mailer }: WorkspacesContext,
  reads: Reads,
  configuration: NotificationConfiguration,
): Promise<void> => {
  refuseInvalid(checkNotification(configuration, configuration.subscribable));
  if (configuration.destinationType === 'email' && mailer === undefined) {
    const text = 'this installation sends no mail: KEELSON_WORKSPACE_SMTP_URL is not set';
    refuseInvalid([attributeViolation('destination-type', text)]);
  }
  for (const userId of configuration.userIds) {
    const { organizationId } = configuration;
    if ((await membershipRecords.find(reads, organizationId, userId)) === undefined) {
      const text = `${userId} is no member of the organization`;
      refuseInvalid([{ pointer: '/data/relationships/users/data', text }]);
    }
  }
};

/** @throws KeelsonError `request.invalid` when the destination does not accept it */
const verify = async (
  context: WorkspacesContext,
  configuration: NotificationConfiguration,
): Promise<DeliveryResponse> => {
  const { response } = await send(context, configuration, undefined);
  if (!response.successful) {
    throw new KeelsonError('request.invalid', {
      text: `the destination did not accept the verification: ${response.code}`,
    });
  }
  return response;
};

/** An enabled configuration is verified before it is stored. */
export const createNotification = async (
  context: WorkspacesContext,
  principal: Principal,
  subscribable: Subscribable,
  settings: NotificationSettings,
): Promise<NotificationView> => {
  const { store, clock, notificationsLimit } = context;
  const nowMs = clock.nowMs();
  const id = newResourceId('nc');
  const prepare = async (reads: Reads): Promise<NotificationConfiguration> => {
    const { organization } = await requireSubscribable(reads, principal, subscribable);
    const others = await notificationRecords.by.subscribable.keys(reads, subscribable.id);
    if (others.length >= notificationsLimit) {
      throw new KeelsonError('workspace.conflict', {
        text: `there are at most ${notificationsLimit} notification configurations here`,
      });
    }
    const configuration = {
      ...settings,
      id,
      subscribable,
      organizationId: organization.id,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await check(context, reads, configuration);
    return configuration;
  };
  const prepared = await prepare(store);
  const response = prepared.enabled ? await verify(context, prepared) : undefined;
  return store.transact(async (tx) => {
    const configuration = await prepare(tx);
    await storeNotification(tx, configuration);
    if (response !== undefined) await addResponse(tx, id, response);
    return toView(tx, configuration);
  });
};

/** The part of a configuration that a verification covers. */
const destinationOf = ({ url, token, userIds, emailAddresses }: NotificationConfiguration) => ({
  url,
  token,
  userIds,
  emailAddresses,
});

/**
 * Users who get mail after an update. A request that leaves them out removes them, as public clients expect, which
 * omit an empty relationship; one that only enables or disables the configuration keeps them.
 */
const decideUserIds = (
  { userIds, enabled: _enabled, ...others }: NotificationInput,
  before: NotificationConfiguration,
): readonly string[] => {
  if (userIds !== undefined) return userIds;
  const isSwitch = Object.values(others).every((value) => value === undefined);
  return before.destinationType === 'email' && !isSwitch ? [] : before.userIds;
};

/** The updated configuration. */
export interface NotificationUpdate extends NotificationView {
  /** Users who no longer get mail, because the request left them out. */
  readonly omittedUsers: number;
}

/** @throws KeelsonError `workspace.conflict` when its destination changed since it was verified */
export const updateNotification = async (
  context: WorkspacesContext,
  principal: Principal,
  id: string,
  given: NotificationInput,
): Promise<NotificationUpdate> => {
  const { store, clock } = context;
  const nowMs = clock.nowMs();
  let omittedUsers = 0;
  const prepare = async (reads: Reads): Promise<NotificationConfiguration> => {
    const before = await requireConfiguration(reads, principal, id);
    const { destinationType = before.destinationType } = given;
    if (destinationType !== before.destinationType) {
      const text = `destination-type cannot be changed from ${before.destinationType}; create another configuration`;
      refuseInvalid([attributeViolation('destination-type', text)]);
    }
    const { url = before.url, token = before.token } = given;
    const configuration: NotificationConfiguration = {
      ...before,
      name: given.name ?? before.name,
      enabled: given.enabled ?? before.enabled,
      url,
      token,
      triggers: given.triggers ?? before.triggers,
      userIds: decideUserIds(given, before),
      emailAddresses: given.emailAddresses ?? before.emailAddresses,
      updatedAtMs: nowMs,
    };
    omittedUsers =
      given.userIds === undefined ? before.userIds.length - configuration.userIds.length : 0;
    await check(context, reads, configuration);
    return configuration;
  };
  const prepared = await prepare(store);
  const response = prepared.enabled ? await verify(context, prepared) : undefined;
  return store.transact(async (tx) => {
    const configuration = await prepare(tx);
    const isVerified = isDeepStrictEqual(destinationOf(configuration), destinationOf(prepared));
    if (configuration.enabled && !isVerified) {
      throw new KeelsonError('workspace.conflict', {
        text: 'the configuration was changed at the same time; try again',
      });
    }
    await storeNotification(tx, configuration);
    if (!configuration.enabled) await removeQueue(tx, id);
    if (response !== undefined) await addResponse(tx, id, response);
    return { ...(await toView(tx, configuration)), omittedUsers };
  });
};

/** Sends a verification whether it is enabled or not. */
export const verifyNotification = async (
  context: WorkspacesContext,
  principal: Principal,
  id: string,
): Promise<NotificationView> => {
  const { store } = context;
  const response = await verify(context, await requireConfiguration(store, principal, id));
  return store.transact(async (tx) => {
    const configuration = await requireConfiguration(tx, principal, id);
    await addResponse(tx, id, response);
    return toView(tx, configuration);
  });
};

export const deleteNotification = (
  { store }: WorkspacesContext,
  principal: Principal,
  id: string,
): Promise<void> =>
  store.transact(async (tx) => {
    await requireConfiguration(tx, principal, id);
    await removeNotification(tx, id);
  });
