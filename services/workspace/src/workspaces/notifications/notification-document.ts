import {
  API_PREFIX,
  choice,
  dictionary,
  orNull,
  type ResourceOf,
  relatedMany,
  relatedOne,
  resourceSchema,
  timestamp,
  toMany,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { DESTINATION_TYPES } from './domain/notification.ts';
import type { NotificationView } from './notification-operations.ts';

export const NOTIFICATION_CONFIGURATION = resourceSchema({
  type: 'notification-configurations',
  attributes: {
    name: Type.String(),
    enabled: Type.Boolean(),
    'destination-type': choice(DESTINATION_TYPES),
    url: orNull(Type.String({ description: 'Null for mail.' })),
    token: orNull(Type.String({ description: 'Always null: never shown.' })),
    triggers: Type.Array(Type.String({ description: 'Such as `run:completed`.' })),
    'email-addresses': Type.Array(Type.String()),
    'delivery-responses': Type.Array(
      Type.Object({
        url: Type.String({ description: 'The address, or the recipients of a mail.' }),
        body: Type.String({ description: 'The beginning of the text.' }),
        code: Type.String({ description: 'The HTTP status, or the code of the error.' }),
        headers: dictionary(Type.Array(Type.String())),
        'sent-at': timestamp(),
        successful: choice(['true', 'false']),
      }),
      { description: 'Newest first.' },
    ),
    'created-at': timestamp(),
    'updated-at': timestamp(),
  },
  relationships: {
    subscribable: relatedOne(['workspaces', 'projects', 'teams']),
    users: relatedMany('users'),
  },
  links: ['self'],
});

/** A configuration without its token. */
export const toNotificationResource = ({
  configuration,
  responses,
}: NotificationView): ResourceOf<typeof NOTIFICATION_CONFIGURATION> => ({
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
      successful: successful ? 'true' : 'false',
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
