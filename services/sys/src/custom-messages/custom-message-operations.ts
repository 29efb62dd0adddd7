import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import type { NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import {
  countMessages,
  deleteMessage,
  findMessage,
  listMessages,
  writeMessage,
} from './custom-message-records.ts';
import {
  type CustomMessage,
  isActive,
  type MessageDraft,
  type MessageFilter,
  matchesFilter,
  requireMessageContent,
  requireRoomForMessage,
} from './domain/custom-message.ts';

/** A message, and whether it was shown at the time of the request. */
export interface ShownMessage {
  readonly message: CustomMessage;
  readonly active: boolean;
}

export interface CustomMessageContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly namespaces: () => Promise<NamespaceTable>;
}

const notFound = (): never => {
  throw new KeelsonError('request.not_found', { text: 'custom message not found' });
};

const shown = ({ clock }: CustomMessageContext, message: CustomMessage): ShownMessage => ({
  message,
  active: isActive(message, clock.nowMs()),
});

/** Messages of this namespace only. */
export const listCustomMessages = async (
  context: CustomMessageContext,
  namespaceId: string,
  filter: MessageFilter,
): Promise<readonly ShownMessage[]> => {
  const nowMs = context.clock.nowMs();
  const all = await listMessages(context.store, namespaceId);
  return all
    .filter((message) => matchesFilter(message, filter, nowMs))
    .map((message) => shown(context, message));
};

export const createCustomMessage = async (
  context: CustomMessageContext,
  namespaceId: string,
  draft: MessageDraft,
): Promise<ShownMessage> => {
  const message = { ...requireMessageContent(draft, 'create'), id: randomUUID() };
  await context.store.transact(async (tx) => {
    requireRoomForMessage(await countMessages(tx, namespaceId));
    writeMessage(tx, namespaceId, message);
  });
  return shown(context, message);
};

/** @throws KeelsonError `request.not_found` */
export const readCustomMessage = async (
  context: CustomMessageContext,
  namespaceId: string,
  id: string,
): Promise<ShownMessage> =>
  shown(context, (await findMessage(context.store, namespaceId, id)) ?? notFound());

/** Replaces the whole message. @throws KeelsonError `request.not_found`, before the content is checked */
export const replaceCustomMessage = async (
  context: CustomMessageContext,
  namespaceId: string,
  id: string,
  draft: MessageDraft,
): Promise<ShownMessage> => {
  const message = await context.store.transact(async (tx) => {
    if ((await findMessage(tx, namespaceId, id)) === undefined) return notFound();
    const replaced = { ...requireMessageContent(draft, 'update'), id };
    writeMessage(tx, namespaceId, replaced);
    return replaced;
  });
  return shown(context, message);
};

/** Succeeds when there is no such message. */
export const removeCustomMessage = (
  { store }: CustomMessageContext,
  namespaceId: string,
  id: string,
): Promise<void> => store.transact((tx) => deleteMessage(tx, namespaceId, id));

/** Active messages of the namespace and its ancestors, nearest first. */
export const displayCustomMessages = async (
  { store, clock, namespaces }: CustomMessageContext,
  namespacePath: string,
  authenticated: boolean,
): Promise<readonly CustomMessage[]> => {
  const lineage = (await namespaces()).lineageOf({ path: namespacePath });
  const perNamespace = await Promise.all(lineage.map(({ id }) => listMessages(store, id)));
  const filter: MessageFilter = { active: true, authenticated };
  const nowMs = clock.nowMs();
  return perNamespace.flat().filter((message) => matchesFilter(message, filter, nowMs));
};
