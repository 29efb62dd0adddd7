/** Routes by which site administrators switch agent pools and OAuth clients off. */
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
import { toAgentPoolResource } from '../agent-pools/agent-pool-document.ts';
import { loadPoolWorkspaceIds } from '../agent-pools/agent-pool-operations.ts';
import { agentRecords } from '../model/agent-records.ts';
import type { AgentPool } from '../model/domain/agent-pool.ts';
import type { OAuthClient } from '../model/domain/oauth-client.ts';
import { toOAuthClientResource } from '../oauth/oauth-document.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import {
  AGENT_POOLS,
  listParts,
  type ManagedPart,
  OAUTH_CLIENTS,
  switchPart,
} from './part-administration-operations.ts';

const SWITCH = Type.Object({ 'is-disabled': Type.Optional(Type.Boolean()) });
const SEARCH = { q: { description: 'Part of the name of it or of its organization.' } };

export const partAdministrationRoutes = (context: WorkspacesContext): Route[] => {
  const { store } = context;
  const toPool = async ({ part, organization, isOff }: ManagedPart<AgentPool>) =>
    toAgentPoolResource(
      { pool: part, organization },
      {
        workspaceIds: await loadPoolWorkspaceIds(store, part),
        agentIds: await agentRecords.by.pool.keys(store, [part.organizationId, part.id]),
        isOff,
      },
    );
  const toClient = ({ part, organization, isOff }: ManagedPart<OAuthClient>) =>
    toOAuthClientResource(context, { client: part, organization }, isOff);
  return [
    ...jsonApiRoutes('agent pools', [
      endpoint({
        method: 'GET',
        path: '/admin/agent-pools',
        summary: 'List the agent pools of the site (site administrators)',
        query: SEARCH,
        answers: pageOf('agent-pools'),
        handle: async ({ head, principal, query }) => {
          const page = parsePage(query);
          const all = await listParts(context, principal, AGENT_POOLS, query.one('q') ?? '');
          const data = await Promise.all(itemsOn(page, all).map(toPool));
          return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
        },
      }),
      endpoint({
        method: 'PATCH',
        path: '/admin/agent-pools/:agent_pool_id',
        summary: 'Switch an agent pool off or on (site administrators)',
        answers: one('agent-pools'),
        body: { schema: resourceBody('agent-pools', SWITCH) },
        handle: async ({ principal, params, body }) => {
          const isOff = body.data.attributes['is-disabled'];
          const { agent_pool_id: id } = params;
          const data = await toPool(await switchPart(context, principal, AGENT_POOLS, id, isOff));
          return { document: { data } };
        },
      }),
    ]),
    ...jsonApiRoutes('OAuth clients', [
      endpoint({
        method: 'GET',
        path: '/admin/oauth-clients',
        summary: 'List the OAuth clients of the site (site administrators)',
        query: SEARCH,
        answers: pageOf('oauth-clients'),
        handle: async ({ head, principal, query }) => {
          const page = parsePage(query);
          const all = await listParts(context, principal, OAUTH_CLIENTS, query.one('q') ?? '');
          const data = itemsOn(page, all).map(toClient);
          return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
        },
      }),
      endpoint({
        method: 'PATCH',
        path: '/admin/oauth-clients/:oauth_client_id',
        summary: 'Switch an OAuth client off or on (site administrators)',
        answers: one('oauth-clients'),
        body: { schema: resourceBody('oauth-clients', SWITCH) },
        handle: async ({ principal, params, body }) => {
          const isOff = body.data.attributes['is-disabled'];
          const { oauth_client_id: id } = params;
          const data = toClient(await switchPart(context, principal, OAUTH_CLIENTS, id, isOff));
          return { document: { data } };
        },
      }),
    ]),
  ];
};
