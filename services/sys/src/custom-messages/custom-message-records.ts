import { jsonRecords, type Reads, type Transaction } from '@keelson/storage';
import type { CustomMessage } from './domain/custom-message.ts';

/**
 * Key: "<namespace id>/<message id>". One record per message: showing one or changing one moves a
 * kilobyte, not a hundred messages. The limit per namespace rests on the listing, which a transaction
 * checks like any other read.
 */
const messages = jsonRecords<CustomMessage>('shared/custom-messages/');

/** Below it the messages of all namespaces are kept. */
export const MESSAGE_PREFIX = messages.prefix;

/** Prefix of the messages of one namespace. */
export const namespaceMessagePrefix = (namespaceId: string): string =>
  messages.path(`${namespaceId}/`);

/** An id becomes part of a path: what cannot be one of ours is unknown. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const findMessage = async (
  reads: Reads,
  namespaceId: string,
  id: string,
): Promise<CustomMessage | undefined> =>
  UUID.test(id) ? messages.find(reads, `${namespaceId}/${id}`) : undefined;

export const countMessages = async (reads: Reads, namespaceId: string): Promise<number> =>
  (await reads.list(namespaceMessagePrefix(namespaceId))).length;

/** In order of their ids. */
export const listMessages = async (
  reads: Reads,
  namespaceId: string,
): Promise<readonly CustomMessage[]> =>
  (await jsonRecords<CustomMessage>(namespaceMessagePrefix(namespaceId)).entries(reads)).map(
    ([, message]) => message,
  );

export const writeMessage = (tx: Transaction, namespaceId: string, message: CustomMessage): void =>
  messages.write(tx, `${namespaceId}/${message.id}`, message);

export const deleteMessage = (tx: Transaction, namespaceId: string, id: string): void => {
  if (UUID.test(id)) messages.delete(tx, `${namespaceId}/${id}`);
};
