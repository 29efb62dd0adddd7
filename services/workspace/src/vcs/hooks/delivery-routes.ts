/** Where providers send deliveries, and the log of deliveries that administrators read. */
import { edgeResponse, type Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  pageOf,
  parsePage,
  refused,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import type { VcsContext } from '../seams/vcs-context.ts';
import { toDeliveryResource } from './delivery-document.ts';
import { listWorkspaceDeliveries, receiveDelivery } from './delivery-operations.ts';

export const deliveryRoutes = (context: VcsContext): Route[] =>
  jsonApiRoutes('repositories', [
    endpoint({
      method: 'GET',
      path: '/workspaces/:workspace_id/repository-deliveries',
      summary: "List the webhook deliveries of a workspace's repository",
      answers: pageOf('repository-deliveries'),
      handle: async ({ head, principal, params, query }) => {
        const workspaceId = params.workspace_id;
        const page = parsePage(query);
        const all = await listWorkspaceDeliveries(context, principal, workspaceId);
        const data = itemsOn(page, all).map((one) => toDeliveryResource(one, workspaceId));
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
  ]);

/** The most that providers send; the gateway has a lower limit, which is a setting. */
const MAX_DELIVERY_BYTES = 25 * 1024 * 1024;

/** The signature of the provider is the credential. */
export const webhookRoutes = (context: VcsContext): Route[] => [
  {
    method: 'POST',
    path: '/webhooks/repositories/:hook_id',
    operation: () => ({
      tags: ['repositories'],
      summary: 'Deliver an event of a repository, as its provider does',
      security: [],
      responses: {
        202: { description: 'Stored; it will be carried out.' },
        403: refused(
          'The signature or token is not that of the webhook, or the organization is disabled.',
        ),
        404: refused('There is no such webhook.'),
        409: refused('The delivery has already been received.'),
        429: refused('Too much work of the organization waits for its providers.'),
        413: refused('The delivery is larger than this installation allows.'),
        default: { $ref: '#/components/responses/Refused' },
      },
    }),
    handle: async ({ head, params, body }) => {
      const bytes = await body.bytes(MAX_DELIVERY_BYTES);
      const delivery = { headers: head.headers, body: bytes };
      await receiveDelivery(context, params['hook_id'] ?? '', delivery);
      return edgeResponse(202);
    },
  },
];
