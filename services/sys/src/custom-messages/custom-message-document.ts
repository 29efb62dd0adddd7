/** Wire shapes of custom messages. */

import type { ShownMessage } from './custom-message-operations.ts';
import type { CustomMessage, MessageLink } from './domain/custom-message.ts';

const linkDocument = (link: MessageLink | null): Readonly<Record<string, string>> | null =>
  link && { [link.title]: link.url };

const summary = (message: CustomMessage) => ({
  title: message.title,
  type: message.type,
  authenticated: message.authenticated,
  start_time: message.startTime.text,
  end_time: message.endTime?.text ?? null,
});

/** Create, read and update answer alike: all that clients of either dialect look for. */
export const messageDocument = ({ message, active }: ShownMessage) => ({
  id: message.id,
  ...summary(message),
  message: message.message,
  link: linkDocument(message.link),
  options: message.options,
  active,
});

export const messageListDocument = (messages: readonly ShownMessage[]) => ({
  keys: messages.map(({ message }) => message.id),
  key_info: Object.fromEntries(
    messages.map(({ message, active }) => [message.id, { ...summary(message), active }]),
  ),
});

/** What the console shows; empty when there is nothing. */
export const displayDocument = (messages: readonly CustomMessage[]) =>
  messages.length === 0
    ? {}
    : {
        keys: messages.map(({ id }) => id),
        key_info: Object.fromEntries(
          messages.map((message) => [
            message.id,
            {
              ...summary(message),
              message: message.message,
              link: linkDocument(message.link),
              options: message.options,
            },
          ]),
        ),
      };
