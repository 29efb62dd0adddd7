import { collection, type Reads, type Transaction } from '@keelson/storage';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import { type CustomMessage, customMessageShape } from './domain/custom-message.ts';

/**
 * Keys: "<namespace id>/<message id>". One record per message, so that reading or changing one moves a
 * kilobyte instead of a hundred messages. The limit per namespace is enforced by the listing, which a
 * transaction checks for conflicts like any other read.
 */
const messages = collection('custom-messages', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: customMessageShape,
  owner: OF_NAMESPACE,
});

/** An id becomes part of a path, so anything but a UUID counts as unknown. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const findMessage = async (
  reads: Reads,
  namespaceId: string,
  id: string,
): Promise<CustomMessage | undefined> =>
  UUID.test(id) ? messages.find(reads, `${namespaceId}/${id}`) : undefined;

export const countMessages = async (reads: Reads, namespaceId: string): Promise<number> =>
  (await messages.keys(reads, [namespaceId])).length;

/** Sorted by id. */
export const listMessages = async (
  reads: Reads,
  namespaceId: string,
): Promise<readonly CustomMessage[]> =>
  (await messages.below(namespaceId).entries(reads)).map(([, message]) => message);

export const writeMessage = (tx: Transaction, namespaceId: string, message: CustomMessage): void =>
  messages.write(tx, `${namespaceId}/${message.id}`, message);

export const deleteMessage = (tx: Transaction, namespaceId: string, id: string): void => {
  if (UUID.test(id)) messages.delete(tx, `${namespaceId}/${id}`);
};
