import { API_PREFIX, type Resource, toMany, toOne, toTimestamp } from '@keelson/jsonapi';
import type { NotificationView } from './notification-operations.ts';

/** A configuration without its token. */
export const toNotificationResource = ({
  configuration,
  responses,
}: NotificationView): Resource => ({
  id: configuration.id,
  type: 'notification-configurations',
  attributes: {
    name: configuration.name,
    enabled: configuration.enabled,
    'destination-type': configuration.destinationType,
    url: configuration.url,
    token: null,
    triggers: configuration.triggers,
    'email-addresses': configuration.emailAddresses,
    'delivery-responses': responses.map(({ url, body, code, headers, sentAtMs, successful }) => ({
      url,
      body,
      code,
      headers,
      'sent-at': toTimestamp(sentAtMs),
      successful: String(successful),
    })),
    'created-at': toTimestamp(configuration.createdAtMs),
    'updated-at': toTimestamp(configuration.updatedAtMs),
  },
  relationships: {
    subscribable: toOne(configuration.subscribable.kind, configuration.subscribable.id),
    users: toMany('users', configuration.userIds),
  },
  links: { self: `${API_PREFIX}/notification-configurations/${configuration.id}` },
});
