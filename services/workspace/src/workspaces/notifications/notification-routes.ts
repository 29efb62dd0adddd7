import type { Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  nullable,
  one,
  type ParamsOf,
  pageOf,
  parsePage,
  resourceBody,
  toPaginatedDocument,
  withWarnings,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { DESTINATION_TYPES, type Subscribable, warnOfTriggers } from './domain/notification.ts';
import { toNotificationResource } from './notification-document.ts';
import {
  createNotification,
  deleteNotification,
  listNotifications,
  type NotificationInput,
  type NotificationView,
  showNotification,
  updateNotification,
  verifyNotification,
} from './notification-operations.ts';

const name = Type.String({ minLength: 1, maxLength: 255 });
const destinationType = Type.Union(DESTINATION_TYPES.map((type) => Type.Literal(type)));
const attributes = {
  enabled: Type.Optional(Type.Boolean()),
  url: Type.Optional(nullable(Type.String({ maxLength: 2048 }))),
  token: Type.Optional(nullable(Type.String({ maxLength: 1024 }))),
  triggers: Type.Optional(nullable(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 20 }))),
  'email-addresses': Type.Optional(
    nullable(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 50 })),
  ),
};
const relationships = Type.Object({
  users: Type.Optional(
    Type.Object({
      data: Type.Array(
        Type.Object({ type: Type.Literal('users'), id: Type.String({ maxLength: 64 }) }),
        { maxItems: 50 },
      ),
    }),
  ),
});
const CREATE = resourceBody(
  'notification-configurations',
  Type.Object({ ...attributes, name, 'destination-type': destinationType }),
  relationships,
);
const UPDATE = resourceBody(
  'notification-configurations',
  Type.Object({
    ...attributes,
    name: Type.Optional(name),
    'destination-type': Type.Optional(destinationType),
  }),
  relationships,
);

/** Clients send an empty address or token for an absent one. */
const orNone = (text: string | null | undefined) => (text === '' ? null : text);

const toGiven = ({ data }: Static<typeof UPDATE>): NotificationInput => ({
  name: data.attributes.name,
  enabled: data.attributes.enabled,
  destinationType: data.attributes['destination-type'],
  url: orNone(data.attributes.url),
  token: orNone(data.attributes.token),
  triggers: data.attributes.triggers === null ? [] : data.attributes.triggers,
  emailAddresses:
    data.attributes['email-addresses'] === null ? [] : data.attributes['email-addresses'],
  userIds: data.relationships?.users?.data.map(({ id }) => id),
});

const toDocument = (view: NotificationView) => ({
  document: { data: toNotificationResource(view) },
});

/** After a change, with warnings about triggers that are never sent, and `others`. */
const toChangedDocument = (view: NotificationView, others: readonly string[] = []) => ({
  document: {
    data: toNotificationResource(view),
    ...withWarnings([...warnOfTriggers(view.configuration.triggers), ...others]),
  },
});

const USERS_WARNING =
  'the relationship users was not given: the users of this configuration were removed and get no more mail';

const ONE = '/notification-configurations/:notification_configuration_id';

export const notificationRoutes = (context: WorkspacesContext): Route[] => {
  const of = <const Path extends string>(
    path: Path,
    what: string,
    subscribableOf: (params: ParamsOf<Path>) => Subscribable,
  ) => [
    endpoint({
      method: 'POST',
      path,
      summary: `Create a notification configuration of ${what}`,
      answers: one('notification-configurations'),
      body: { schema: CREATE },
      success: 201,
      handle: async ({ principal, params, body }) => {
        const given = toGiven(body);
        const settings = {
          name: body.data.attributes.name,
          destinationType: body.data.attributes['destination-type'],
          enabled: given.enabled ?? false,
          url: given.url ?? null,
          token: given.token ?? null,
          triggers: given.triggers ?? [],
          userIds: given.userIds ?? [],
          emailAddresses: given.emailAddresses ?? [],
        };
        const subscribable = subscribableOf(params);
        return toChangedDocument(
          await createNotification(context, principal, subscribable, settings),
        );
      },
    }),
    endpoint({
      method: 'GET',
      path,
      summary: `List the notification configurations of ${what}`,
      answers: pageOf('notification-configurations'),
      handle: async ({ head, principal, params, query }) => {
        const page = parsePage(query);
        const subscribable = subscribableOf(params);
        const all = await listNotifications(context, principal, subscribable);
        const data = itemsOn(page, all).map(toNotificationResource);
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
  ];
  return jsonApiRoutes('notification configurations', [
    ...of('/workspaces/:workspace_id/notification-configurations', 'a workspace', (params) => ({
      kind: 'workspaces',
      id: params.workspace_id,
    })),
    ...of('/projects/:project_id/notification-configurations', 'a project', (params) => ({
      kind: 'projects',
      id: params.project_id,
    })),
    ...of('/teams/:team_id/notification-configurations', 'a team', (params) => ({
      kind: 'teams',
      id: params.team_id,
    })),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show a notification configuration',
      answers: one('notification-configurations'),
      handle: async ({ principal, params }) =>
        toDocument(
          await showNotification(context, principal, params.notification_configuration_id),
        ),
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary: 'Update a notification configuration',
      answers: one('notification-configurations'),
      body: { schema: UPDATE },
      handle: async ({ principal, params, body }) => {
        const updated = await updateNotification(
          context,
          principal,
          params.notification_configuration_id,
          toGiven(body),
        );
        return toChangedDocument(updated, updated.omittedUsers > 0 ? [USERS_WARNING] : []);
      },
    }),
    endpoint({
      method: 'POST',
      path: `${ONE}/actions/verify`,
      summary: 'Send a verification to the destination',
      answers: one('notification-configurations'),
      handle: async ({ principal, params }) =>
        toDocument(
          await verifyNotification(context, principal, params.notification_configuration_id),
        ),
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete a notification configuration',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteNotification(context, principal, params.notification_configuration_id);
        return undefined;
      },
    }),
  ]);
};
