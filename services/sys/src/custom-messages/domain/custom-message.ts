/** Banners and dialogs that the console shows before or after login, and their rules. */

import { KeelsonError } from '@keelson/errors';
import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

const momentShape = Type.Object({
  epochMs: Type.Number(),
  /** RFC 3339, as given. */
  text: Type.String(),
});

export const messageLinkShape = Type.Object({ title: Type.String(), url: Type.String() });
export type MessageLink = Shaped<typeof messageLinkShape>;

const MESSAGE_TYPES = ['banner', 'modal'] as const;
export const messageTypeShape = Type.Enum(MESSAGE_TYPES);
export type MessageType = Shaped<typeof messageTypeShape>;

export const isMessageType = (type: string): type is MessageType =>
  MESSAGE_TYPES.some((known) => known === type);

/** The part that clients write; a change replaces all of it. */
export const messageContentShape = Type.Object({
  title: Type.String(),
  /** True: shown after login. False: shown to anyone before login. */
  authenticated: Type.Boolean(),
  type: messageTypeShape,
  /** Base64, as given. */
  message: Type.String(),
  startTime: momentShape,
  /** Null if the message never ends. */
  endTime: nullable(momentShape),
  link: nullable(messageLinkShape),
  options: nullable(Type.Record(Type.String(), Type.Unknown())),
});
export type MessageContent = Shaped<typeof messageContentShape>;

export const customMessageShape = Type.Object({
  ...messageContentShape.properties,
  id: Type.String(),
});
export type CustomMessage = Shaped<typeof customMessageShape>;

/** Per namespace, including inactive messages. */
const MAX_MESSAGES = 100;

/** A message is active strictly between its two times. Not stored, because it depends on the time only. */
export const isActive = (message: MessageContent, nowMs: number): boolean =>
  nowMs > message.startTime.epochMs &&
  (message.endTime === null || nowMs < message.endTime.epochMs);

/** Standard base64, with or without padding. */
export const isBase64 = (text: string): boolean =>
  /^[A-Za-z0-9+/]*={0,2}$/.test(text) &&
  (text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1);

const LINK_SCHEMES = ['http:', 'https:', 'mailto:'];

/** Whether it is a path, or a URL of a scheme that runs nothing. */
const isHarmless = (url: string): boolean => {
  const parsed = URL.parse(url, 'https://console.invalid');
  return parsed !== null && LINK_SCHEMES.includes(parsed.protocol);
};

/**
 * The only link of a message; `{}` and `{"":""}` mean that it has none.
 * @returns the link, or the text of the refusal
 */
export const parseLink = (
  link: Readonly<Record<string, unknown>>,
): { readonly refused: string } | { readonly link: MessageLink | null } => {
  const entries = Object.entries(link);
  const [title, url] = entries[0] ?? ['', ''];
  if (entries.length > 1)
    return {
      refused:
        'invalid number of elements in link parameter value; only a single element can be provided',
    };
  if (typeof url !== 'string')
    return { refused: `invalid url for "${title}" key in link parameter value` };
  if (title === '' && url === '') return { link: null };
  if (title === '') return { refused: 'missing title key in link parameter value' };
  if (url === '') return { refused: `missing url for "${title}" key in link parameter value` };
  if (!isHarmless(url))
    return {
      refused: `invalid url for "${title}" key in link parameter value: it must be a relative path, or begin with http:, https: or mailto:`,
    };
  return { link: { title, url } };
};

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** A message before validation: its type is any text. */
export type MessageDraft = Omit<MessageContent, 'type'> & { readonly type: string };

/**
 * Checks the rules that apply to a whole message.
 * @throws KeelsonError `request.invalid`
 */
export const requireMessageContent = (
  draft: MessageDraft,
  action: 'create' | 'update',
): MessageContent => {
  const failed = `failed to ${action} custom message`;
  if (draft.endTime !== null && draft.startTime.epochMs >= draft.endTime.epochMs)
    refuse(`${failed}: message start time must occur before end time`);
  const { type } = draft;
  return isMessageType(type) ? { ...draft, type } : refuse(`${failed}: unrecognized message type`);
};

/** @throws KeelsonError `request.invalid` */
export const requireRoomForMessage = (count: number): void => {
  if (count >= MAX_MESSAGES)
    refuse('failed to create custom message: maximum number of messages already exist');
};

export interface MessageFilter {
  readonly active?: boolean | undefined;
  readonly authenticated?: boolean | undefined;
  readonly type?: MessageType | undefined;
}

export const matchesFilter = (
  message: CustomMessage,
  filter: MessageFilter,
  nowMs: number,
): boolean =>
  (filter.active ?? isActive(message, nowMs)) === isActive(message, nowMs) &&
  (filter.authenticated ?? message.authenticated) === message.authenticated &&
  (filter.type ?? message.type) === message.type;
