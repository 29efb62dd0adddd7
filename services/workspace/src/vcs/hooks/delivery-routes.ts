/** Where providers send deliveries, and the log of deliveries that administrators read. */
import { edgeResponse, type Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  parsePage,
  type Resource,
  toPaginatedDocument,
  toTimestamp,
} from '@keelson/jsonapi';
import type { VcsContext } from '../seams/vcs-context.ts';
import { listWorkspaceDeliveries, receiveDelivery } from './delivery-operations.ts';
import type { StoredDelivery } from './delivery-records.ts';

/** @param workspaceId effects on other workspaces are not shown */
const toDeliveryResource = (delivery: StoredDelivery, workspaceId: string): Resource => ({
  id: delivery.id,
  type: 'repository-deliveries',
  attributes: {
    'delivery-id': delivery.deliveryId,
    event: delivery.event,
    'received-at': toTimestamp(delivery.receivedAtMs),
    outcome: delivery.outcome,
    detail:
      delivery.effects.find((effect) => effect.workspaceId === workspaceId)?.text ??
      delivery.detail,
  },
});

export const deliveryRoutes = (context: VcsContext): Route[] =>
  jsonApiRoutes('repositories', [
    endpoint({
      method: 'GET',
      path: '/workspaces/:workspace_id/repository-deliveries',
      summary: "List the webhook deliveries of a workspace's repository",
      handle: async ({ head, principal, params, query }) => {
        const workspaceId = params['workspace_id'] ?? '';
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
    operation: {
      tags: ['repositories'],
      summary: 'Deliver what happened in a repository, as its provider does',
      security: [],
      responses: {
        202: { description: 'Stored; it will be carried out.' },
        403: { description: 'The signature or token is not that of the webhook.' },
        404: { description: 'There is no such webhook.' },
        409: { description: 'The delivery has already been received.' },
        429: { description: 'Too much work of the organization waits for its providers.' },
        413: { description: 'The delivery is larger than this installation allows.' },
      },
    },
    handle: async ({ head, params, body }) => {
      const bytes = await body.bytes(MAX_DELIVERY_BYTES);
      const delivery = { headers: head.headers, body: bytes };
      await receiveDelivery(context, params['hook_id'] ?? '', delivery);
      return edgeResponse(202);
    },
  },
];
