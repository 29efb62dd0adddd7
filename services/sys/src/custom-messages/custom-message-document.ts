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

/** The one response of create, read and update, with the members that clients of either dialect expect. */
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

/** The messages in the form that the console shows; an empty object if there are none. */
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
