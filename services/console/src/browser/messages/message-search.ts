/** Filters of the list of messages, as kept in the address bar. */

export const MESSAGE_STATES = ['active', 'scheduled', 'over'] as const;

export type MessageState = (typeof MESSAGE_STATES)[number];

const TYPES = ['banner', 'modal'] as const;

export interface MessageSearch {
  /** Absent means messages shown after login. */
  readonly shown?: 'before';
  readonly state?: MessageState;
  readonly type?: (typeof TYPES)[number];
}

export const parseMessageSearch = (search: Readonly<Record<string, unknown>>): MessageSearch => {
  const state = MESSAGE_STATES.find((one) => one === search['state']);
  const type = TYPES.find((one) => one === search['type']);
  return {
    ...(search['shown'] === 'before' && { shown: 'before' }),
    ...(state !== undefined && { state }),
    ...(type !== undefined && { type }),
  };
};
