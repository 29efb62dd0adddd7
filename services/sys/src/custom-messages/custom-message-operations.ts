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

/** A message and whether it is shown at the moment it was asked for. */
export interface ShownMessage {
  readonly message: CustomMessage;
  readonly active: boolean;
}

export interface CustomMessageOperations {
  /** Messages of this namespace only. */
  list(namespaceId: string, filter: MessageFilter): Promise<readonly ShownMessage[]>;
  create(namespaceId: string, draft: MessageDraft): Promise<ShownMessage>;
  /** @throws KeelsonError `request.not_found` */
  read(namespaceId: string, id: string): Promise<ShownMessage>;
  /** Replaces the whole message. @throws KeelsonError `request.not_found`, before the rules of content */
  replace(namespaceId: string, id: string, draft: MessageDraft): Promise<ShownMessage>;
  /** Absent is success. */
  remove(namespaceId: string, id: string): Promise<void>;
  /** Active messages of the namespace and of all above it, nearest first. */
  display(namespacePath: string, authenticated: boolean): Promise<readonly CustomMessage[]>;
}

export interface CustomMessageDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly namespaces: () => Promise<NamespaceTable>;
}

const notFound = (): never => {
  throw new KeelsonError('request.not_found', { text: 'custom message not found' });
};

/** Custom messages of one store. */
export const createCustomMessageOperations = ({
  store,
  clock,
  namespaces,
}: CustomMessageDependencies): CustomMessageOperations => {
  const shown = (message: CustomMessage): ShownMessage => ({
    message,
    active: isActive(message, clock.nowMs()),
  });

  return {
    list: async (namespaceId, filter) => {
      const nowMs = clock.nowMs();
      const all = await listMessages(store, namespaceId);
      return all.filter((message) => matchesFilter(message, filter, nowMs)).map(shown);
    },

    create: async (namespaceId, draft) => {
      const message = { ...requireMessageContent(draft, 'create'), id: randomUUID() };
      await store.transact(async (tx) => {
        requireRoomForMessage(await countMessages(tx, namespaceId));
        writeMessage(tx, namespaceId, message);
      });
      return shown(message);
    },

    read: async (namespaceId, id) =>
      shown((await findMessage(store, namespaceId, id)) ?? notFound()),

    replace: async (namespaceId, id, draft) => {
      const message = await store.transact(async (tx) => {
        if ((await findMessage(tx, namespaceId, id)) === undefined) return notFound();
        const replaced = { ...requireMessageContent(draft, 'update'), id };
        writeMessage(tx, namespaceId, replaced);
        return replaced;
      });
      return shown(message);
    },

    remove: (namespaceId, id) => store.transact((tx) => deleteMessage(tx, namespaceId, id)),

    display: async (namespacePath, authenticated) => {
      const lineage = (await namespaces()).lineageOf({ path: namespacePath });
      const perNamespace = await Promise.all(lineage.map(({ id }) => listMessages(store, id)));
      const filter: MessageFilter = { active: true, authenticated };
      const nowMs = clock.nowMs();
      return perNamespace.flat().filter((message) => matchesFilter(message, filter, nowMs));
    },
  };
};
