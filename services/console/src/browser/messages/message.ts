/** Custom messages as the API represents them and as the form edits them. */

export type MessageType = 'banner' | 'modal';

/** One entry of `key_info` (administration API, custom messages). */
export interface MessageInfo {
  readonly title: string;
  readonly type: MessageType;
  readonly authenticated: boolean;
  readonly active: boolean;
  /** RFC 3339. */
  readonly start_time: string;
  /** RFC 3339; null means that it never ends. */
  readonly end_time: string | null;
}

export interface Message extends MessageInfo {
  /** Base64 of UTF-8 text. */
  readonly message: string;
  /** One pair of title and address. */
  readonly link: Readonly<Record<string, string>> | null;
  /** Absent in lists. Set by other clients only; kept unchanged. */
  readonly options?: Readonly<Record<string, unknown>> | null;
}

export type MessageList = {
  readonly keys?: readonly string[];
  readonly key_info?: Readonly<Record<string, Message>>;
};

export const toBase64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));

/** @returns the text; the base64 itself when the bytes are not UTF-8 */
export const fromBase64 = (encoded: string): string => {
  try {
    const bytes = Uint8Array.from(atob(encoded), (unit) => unit.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return encoded;
  }
};

/** The one link of a message, if its address may be opened: http, https, mail or a path. */
export const linkOf = ({
  link,
}: Pick<Message, 'link'>): { title: string; href: string } | undefined => {
  const [pair] = Object.entries(link ?? {});
  if (pair === undefined || pair[0] === '') return undefined;
  const [title, href] = pair;
  return /^(https?:\/\/|mailto:|\/(?!\/))/i.test(href) ? { title, href } : undefined;
};

const two = (value: number): string => String(value).padStart(2, '0');

/** RFC 3339 to the value of a `datetime-local` input, in the reader's time zone. */
export const toLocalInput = (time: string | null): string => {
  if (time === null) return '';
  const at = new Date(time);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
};

/** The value of a `datetime-local` input to RFC 3339 in UTC; null for an empty one. */
export const fromLocalInput = (value: string): string | null =>
  value === '' ? null : new Date(value).toISOString();

export const sortedByStart = (list: MessageList | undefined): (readonly [string, Message])[] =>
  Object.entries(list?.key_info ?? {}).toSorted(
    ([idA, a], [idB, b]) => b.start_time.localeCompare(a.start_time) || idA.localeCompare(idB),
  );

/** A message as edited in the form. */
export type Draft = {
  readonly title: string;
  readonly text: string;
  readonly type: MessageType;
  /** Shown after signing in ("true") or before ("false"). */
  readonly authenticated: string;
  /** Values of `datetime-local` inputs, to the minute. */
  readonly start: string;
  /** Empty if it never ends. */
  readonly end: string;
  readonly linkTitle: string;
  readonly linkHref: string;
};

export const draftOf = (message: Message): Draft => {
  const [link] = Object.entries(message.link ?? {});
  return {
    title: message.title,
    text: fromBase64(message.message),
    type: message.type,
    authenticated: String(message.authenticated),
    start: toLocalInput(message.start_time),
    end: toLocalInput(message.end_time),
    linkTitle: link?.[0] ?? '',
    linkHref: link?.[1] ?? '',
  };
};

export const linkMap = ({ linkTitle, linkHref }: Draft): Record<string, string> =>
  linkTitle === '' && linkHref === '' ? {} : { [linkTitle]: linkHref };

/**
 * The body that creates a message, or replaces `message`. Unchanged members are sent as they were: a text
 * that is not UTF-8, a time with seconds and the options of another client survive an edit.
 */
export const bodyOf = (draft: Draft, message: Message | undefined): object => {
  const before = message && draftOf(message);
  const isKept = (name: keyof Draft): boolean => before?.[name] === draft[name];
  const end = isKept('end') ? message?.end_time : fromLocalInput(draft.end);
  return {
    title: draft.title,
    message: isKept('text') ? message?.message : toBase64(draft.text),
    type: draft.type,
    authenticated: draft.authenticated === 'true',
    start_time: isKept('start') ? message?.start_time : fromLocalInput(draft.start),
    ...(end && { end_time: end }),
    link: linkMap(draft),
    ...(message?.options && { options: message.options }),
  };
};
