import {
  choice,
  orNull,
  type ResourceOf,
  resourceSchema,
  timestamp,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { DELIVERY_OUTCOMES, type StoredDelivery } from './delivery-records.ts';

export const REPOSITORY_DELIVERY = resourceSchema({
  type: 'repository-deliveries',
  description: 'Payload that the provider of a repository sent to its webhook.',
  attributes: {
    'delivery-id': Type.String({ description: 'As the provider names it.' }),
    event: Type.String(),
    'received-at': timestamp(),
    outcome: choice(DELIVERY_OUTCOMES),
    detail: orNull(
      Type.String({ description: 'Its effect on the workspace, or why it had none.' }),
    ),
  },
});

/** @param workspaceId effects on other workspaces are not shown */
export const toDeliveryResource = (
  delivery: StoredDelivery,
  workspaceId: string,
): ResourceOf<typeof REPOSITORY_DELIVERY> => ({
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
