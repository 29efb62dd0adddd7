import type { Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  pageOf,
  parsePage,
  resourceListBody,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import {
  bindTagToWorkspaces,
  deleteOrganizationTags,
  listOrganizationTags,
} from './organization-tag-operations.ts';
import { toTagResource } from './tag-document.ts';

const identifiers = <T extends string>(type: T) =>
  resourceListBody(
    Type.Object({ type: Type.Literal(type), id: Type.String({ maxLength: 64 }) }),
    100,
  );

const COLLECTION = '/organizations/:organization_name/tags';

export const organizationTagRoutes = (context: WorkspacesContext): Route[] =>
  jsonApiRoutes('tags', [
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List the flat tags of an organization',
      query: {
        q: { description: 'Part of the name.' },
        'filter[name]': { description: 'As `q`, which goes before it.' },
        'filter[exclude][taggable][id]': { description: 'A workspace that does not have the tag.' },
      },
      answers: pageOf('tags'),
      handle: async ({ head, principal, params, query }) => {
        const organizationName = params.organization_name;
        const all = await listOrganizationTags(context, principal, organizationName, {
          nameContains: query.one('q') ?? query.one('filter', 'name'),
          notOnWorkspaceId: query.one('filter', 'exclude', 'taggable', 'id'),
        });
        const page = parsePage(query);
        const data = itemsOn(page, all).map((tag) => toTagResource(tag, organizationName));
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: COLLECTION,
      summary: 'Delete flat tags of an organization from all workspaces',
      body: { schema: identifiers('tags') },
      success: 204,
      handle: async ({ principal, params, body }) => {
        const ids = body.data.map(({ id }) => id);
        await deleteOrganizationTags(context, principal, params.organization_name, ids);
        return undefined;
      },
    }),
    endpoint({
      method: 'POST',
      path: '/tags/:tag_id/relationships/workspaces',
      summary: 'Bind a flat tag to workspaces',
      body: { schema: identifiers('workspaces') },
      success: 204,
      handle: async ({ principal, params, body }) => {
        const ids = body.data.map(({ id }) => id);
        await bindTagToWorkspaces(context, principal, params.tag_id, ids);
        return undefined;
      },
    }),
  ]);
