import type { Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  one,
  pageOf,
  parsePage,
  resourceBody,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { toCamelKeys } from '../../base/validation/attribute-names.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { toReservedKeyResource } from './reserved-key-document.ts';
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

const COLLECTION = '/organizations/:organization_name/reserved-tag-keys';
/** The documented path of a single key, and the path that client libraries use. */
const ONE = ['/reserved-tags/:reserved_key_id', '/reserved-tag-keys/:reserved_key_id'] as const;

export const reservedKeyRoutes = (context: WorkspacesContext): Route[] =>
  jsonApiRoutes('tags', [
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List the tag keys that an organization has reserved',
      answers: pageOf('reserved-tag-keys'),
      handle: async ({ head, principal, params, query }) => {
        const all = await listReservedKeys(context, principal, params.organization_name);
        const page = parsePage(query);
        const data = itemsOn(page, all).map(toReservedKeyResource);
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Reserve a tag key',
      answers: one('reserved-tag-keys'),
      body: { schema: CREATE },
      success: 201,
      handle: async ({ principal, params, body }) => {
        const given = toCamelKeys(body.data.attributes);
        const name = params.organization_name;
        return {
          document: {
            data: toReservedKeyResource(await reserveKey(context, principal, name, given)),
          },
        };
      },
    }),
    ...ONE.map((path) =>
      endpoint({
        method: 'PATCH',
        path,
        summary: 'Change a reserved tag key',
        answers: one('reserved-tag-keys'),
        body: { schema: UPDATE },
        handle: async ({ principal, params, body }) => {
          const given = toCamelKeys(body.data.attributes);
          const id = params.reserved_key_id;
          const reserved = await updateReservedKey(context, principal, id, given);
          return { document: { data: toReservedKeyResource(reserved) } };
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
          await releaseKey(context, principal, params.reserved_key_id);
          return undefined;
        },
      }),
    ),
  ]);
