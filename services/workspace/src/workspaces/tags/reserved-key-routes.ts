import type { Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  parsePage,
  type Resource,
  resourceBody,
  toPaginatedDocument,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { toCamelKeys } from '../../base/validation/attribute-names.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import type { ReservedKey } from './domain/reserved-key.ts';
import {
  listReservedKeys,
  releaseKey,
  reserveKey,
  updateReservedKey,
} from './reserved-key-operations.ts';

const key = Type.String({ maxLength: 128 });
const attributes = { 'disable-overrides': Type.Optional(Type.Boolean()) };
const CREATE = resourceBody('reserved-tag-keys', Type.Object({ ...attributes, key }));
const UPDATE = resourceBody(
  'reserved-tag-keys',
  Type.Object({ ...attributes, key: Type.Optional(key) }),
);

const toResource = (reserved: ReservedKey): Resource => {
  const createdAt = toTimestamp(reserved.createdAtMs);
  const updatedAt = toTimestamp(reserved.updatedAtMs);
  return {
    id: reserved.id,
    type: 'reserved-tag-keys',
    attributes: {
      key: reserved.key,
      'disable-overrides': reserved.disableOverrides,
      'created-at': createdAt,
      'updated-at': updatedAt,
      // Client libraries send and expect these with underscores.
      created_at: createdAt,
      updated_at: updatedAt,
    },
  };
};

const COLLECTION = '/organizations/:organization_name/reserved-tag-keys';
/** The documented path of a single key, and the path that client libraries use. */
const ONE = ['/reserved-tags/:reserved_key_id', '/reserved-tag-keys/:reserved_key_id'];

export const reservedKeyRoutes = (context: WorkspacesContext): Route[] =>
  jsonApiRoutes('tags', [
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List the tag keys that an organization has reserved',
      handle: async ({ head, principal, params, query }) => {
        const all = await listReservedKeys(context, principal, params['organization_name'] ?? '');
        const page = parsePage(query);
        const data = itemsOn(page, all).map(toResource);
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Reserve a tag key',
      body: { schema: CREATE },
      success: 201,
      handle: async ({ principal, params, body }) => {
        const given = toCamelKeys(body.data.attributes);
        const name = params['organization_name'] ?? '';
        return {
          document: { data: toResource(await reserveKey(context, principal, name, given)) },
        };
      },
    }),
    ...ONE.map((path) =>
      endpoint({
        method: 'PATCH',
        path,
        summary: 'Change a reserved tag key',
        body: { schema: UPDATE },
        handle: async ({ principal, params, body }) => {
          const given = toCamelKeys(body.data.attributes);
          const id = params['reserved_key_id'] ?? '';
          const reserved = await updateReservedKey(context, principal, id, given);
          return { document: { data: toResource(reserved) } };
        },
      }),
    ),
    ...ONE.map((path) =>
      endpoint({
        method: 'DELETE',
        path,
        summary: 'Release a reserved tag key',
        success: 204,
        handle: async ({ principal, params }) => {
          await releaseKey(context, principal, params['reserved_key_id'] ?? '');
          return undefined;
        },
      }),
    ),
  ]);
