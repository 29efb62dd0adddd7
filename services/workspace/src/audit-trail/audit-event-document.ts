/** Events as resources, and in the form of the audit trail that clients of the hosted service read. */
import {
  choice,
  orNull,
  type Page,
  type ResourceOf,
  relatedOne,
  resourceSchema,
  timestamp,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { EventPage, NamedEvent } from './audit-event-operations.ts';
import { ACTOR_KINDS, RESOURCE_TYPES, toEventMs } from './domain/audit-event.ts';

export const AUDIT_EVENT = resourceSchema({
  type: 'audit-events',
  description:
    'A change of one resource of an organization. It shows who, what and when, and no values.',
  attributes: {
    timestamp: timestamp(),
    action: Type.String({
      description: '`create`, `update`, `destroy`, or the name of an action such as `lock`.',
    }),
    'resource-type': choice(RESOURCE_TYPES),
    'resource-id': Type.String(),
    'resource-name': orNull(
      Type.String({
        description:
          'The name that it has after the change, or had before it was removed. For a membership, the name of the user.',
      }),
    ),
    'workspace-name': orNull(
      Type.String({
        description: 'The workspace to which the resource belongs, if it still exists.',
      }),
    ),
    'actor-type': choice(ACTOR_KINDS, { description: 'Whose token was used.' }),
    'actor-id': Type.String(),
    'actor-name': orNull(
      Type.String({ description: 'Null if there is no such account any more.' }),
    ),
    'token-id': Type.String(),
    'request-id': Type.String({
      description: 'As in the answer to the request and in the audit log.',
    }),
  },
  relationships: { workspace: relatedOne('workspaces') },
});

/** A membership has no name, but that of its user. */
const nameOf = ({ event, userName }: NamedEvent): string | null => event.resource.name ?? userName;

export const toEventResource = (named: NamedEvent): ResourceOf<typeof AUDIT_EVENT> => {
  const { event, actorName, workspaceName } = named;
  const { actor, resource } = event;
  return {
    id: event.id,
    type: 'audit-events',
    attributes: {
      timestamp: toTimestamp(toEventMs(event)),
      action: resource.action,
      'resource-type': resource.type,
      'resource-id': resource.id,
      'resource-name': nameOf(named),
      'workspace-name': workspaceName,
      'actor-type': actor.kind,
      'actor-id': actor.id,
      'actor-name': actorName,
      'token-id': actor.tokenId,
      'request-id': event.requestId,
    },
    relationships: {
      workspace: toOne('workspaces', resource.workspaceId),
    },
  };
};

const count = Type.Integer({ minimum: 0 });

/** The form of the hosted service, which is no JSON:API document. */
export const TRAIL = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String(),
      version: Type.String(),
      type: Type.String(),
      timestamp: timestamp(),
      auth: Type.Object({
        accessor_id: Type.String({ description: 'Id of the user, team, organization or run.' }),
        description: Type.String({ description: 'Its name; the id of one that no longer exists.' }),
        type: Type.String(),
        impersonator_id: orNull(Type.String()),
        organization_id: Type.String(),
      }),
      request: Type.Object({ id: Type.String() }),
      resource: Type.Object({
        id: Type.String(),
        type: Type.String(),
        action: Type.String(),
        meta: Type.Object({
          name: orNull(Type.String()),
          workspace_id: orNull(Type.String()),
        }),
      }),
    }),
  ),
  pagination: Type.Object({
    current_page: count,
    prev_page: orNull(count),
    next_page: orNull(count),
    total_pages: count,
    total_count: count,
  }),
});

const toTrailEvent = (named: NamedEvent) => {
  const { event, actorName } = named;
  const { actor, resource } = event;
  return {
    id: event.id,
    version: '0',
    type: 'Resource',
    timestamp: toTimestamp(toEventMs(event)),
    auth: {
      accessor_id: actor.id,
      description: actorName ?? actor.id,
      type: 'Client',
      impersonator_id: null,
      organization_id: event.organizationId,
    },
    request: { id: event.requestId },
    resource: {
      id: resource.id,
      type: resource.type,
      action: resource.action,
      meta: { name: nameOf(named), workspace_id: resource.workspaceId },
    },
  };
};

export const toTrail = ({ events, totalCount }: EventPage, { number, size }: Page) => {
  const totalPages = Math.ceil(totalCount / size);
  return {
    data: events.map(toTrailEvent),
    pagination: {
      current_page: number,
      prev_page: number > 1 ? number - 1 : null,
      next_page: number < totalPages ? number + 1 : null,
      total_pages: totalPages,
      total_count: totalCount,
    },
  };
};
