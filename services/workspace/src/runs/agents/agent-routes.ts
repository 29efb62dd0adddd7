/** Agents: lists for users, registration and heartbeats for the agents themselves. */
import type { Route } from '@keelson/edge';
import {
  endpoint,
  jsonApiRoutes,
  one,
  pageOf,
  parsePage,
  parseTimestampMs,
  resourceBody,
  timestamp,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { RunsContext } from '../seams/runs-context.ts';
import { toAgentResource } from './agent-document.ts';
import {
  deleteAgent,
  listAgents,
  pingAgent,
  registerAgent,
  requireAgent,
} from './agent-operations.ts';

const REGISTER = resourceBody(
  'agents',
  Type.Object({
    name: Type.String({ maxLength: 255 }),
    version: Type.Optional(Type.String({ maxLength: 64 })),
  }),
);
const PING = resourceBody(
  'agents',
  Type.Object({
    status: Type.Optional(Type.Union([Type.Literal('idle'), Type.Literal('exited')])),
  }),
);

const ONE = '/agents/:agent_id';

/** Routes for members of the organization. */
export const agentRoutes = (context: RunsContext): Route[] =>
  jsonApiRoutes('agents', [
    endpoint({
      method: 'GET',
      path: '/agent-pools/:agent_pool_id/agents',
      summary: 'List the agents of a pool',
      query: {
        'filter[last-ping-since]': {
          description: 'Earliest time of the last ping.',
          schema: timestamp(),
        },
      },
      answers: pageOf('agents'),
      handle: async ({ head, principal, params, query }) => {
        const page = parsePage(query);
        const { agents, totalCount } = await listAgents(
          context,
          principal,
          params.agent_pool_id,
          parseTimestampMs(query.one('filter', 'last-ping-since') ?? '') ?? 0,
          page,
        );
        const data = agents.map(toAgentResource);
        return { document: toPaginatedDocument(head, { data, page, totalCount }) };
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show an agent',
      answers: one('agents'),
      handle: async ({ principal, params }) => {
        const agent = await requireAgent(context.store, principal, params.agent_id);
        return { document: { data: toAgentResource(agent) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Forget an agent that is gone',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteAgent(context, principal, params.agent_id);
        return undefined;
      },
    }),
  ]);

/** Routes for agents, authorized by the token of their pool. */
export const agentPresenceRoutes = (context: RunsContext): Route[] =>
  jsonApiRoutes('agents', [
    endpoint({
      method: 'POST',
      path: '/agents',
      summary: 'Register an agent with its pool',
      answers: one('agents'),
      body: { schema: REGISTER },
      success: 201,
      handle: async ({ head, principal, body }) => {
        const { name, version = '' } = body.data.attributes;
        const given = { name, version, ipAddress: head.remoteAddress };
        return {
          document: { data: toAgentResource(await registerAgent(context, principal, given)) },
        };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary: 'Report that the agent is alive; with a status, that it has no phase',
      answers: one('agents'),
      body: { schema: PING },
      handle: async ({ head, principal, params, body }) => {
        const agent = await pingAgent(
          context,
          principal,
          params.agent_id,
          body.data.attributes.status,
          head.remoteAddress,
        );
        return { document: { data: toAgentResource(agent) } };
      },
    }),
  ]);
