/** Filters of the activity of an organization, as kept in the address bar and sent to the API. */
import { type ChangedType, TYPE_WORDS } from './event-words.ts';

export interface ActivitySearch {
  /** The name of a user, or an id. */
  readonly who?: string;
  readonly what?: ChangedType;
  /** The name of a workspace. */
  readonly workspace?: string;
  /** The first day, as "2026-01-31". */
  readonly from?: string;
  /** The last day. */
  readonly to?: string;
  readonly page?: number;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

const isDay = (value: unknown): value is string =>
  typeof value === 'string' && DAY.test(value) && !Number.isNaN(Date.parse(value));

const isText = (value: unknown): value is string | number =>
  (typeof value === 'string' || typeof value === 'number') && value !== '';

const isType = (value: unknown): value is ChangedType =>
  typeof value === 'string' && Object.hasOwn(TYPE_WORDS, value);

/** The filters in an address. */
export const parseActivitySearch = (search: Readonly<Record<string, unknown>>): ActivitySearch => {
  const { who, what, workspace, from, to } = search;
  const page = Number(search['page']);
  return {
    ...(isText(who) && { who: String(who) }),
    ...(isType(what) && { what }),
    ...(isText(workspace) && { workspace: String(workspace) }),
    ...(isDay(from) && { from }),
    ...(isDay(to) && { to }),
    ...(Number.isInteger(page) && page > 1 && { page }),
  };
};

const PAGE_SIZE = 50;

/** Midnight where the person is, some days after the beginning of this one. */
const midnight = (day: string, daysLater: number): Date => {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + daysLater);
  return date;
};

/** The API query for a set of filters. */
export const activityQuery = ({
  who,
  what,
  workspace,
  from,
  to,
  page = 1,
}: ActivitySearch): string =>
  [
    `page[size]=${PAGE_SIZE}`,
    `page[number]=${page}`,
    ...(who === undefined ? [] : [`filter[actor]=${encodeURIComponent(who)}`]),
    ...(what === undefined ? [] : [`filter[resource_type]=${what}`]),
    ...(workspace === undefined ? [] : [`filter[workspace]=${encodeURIComponent(workspace)}`]),
    // The API shows what is after this time, to the millisecond.
    ...(from === undefined
      ? []
      : [`filter[since]=${new Date(midnight(from, 0).getTime() - 1).toISOString()}`]),
    ...(to === undefined ? [] : [`filter[until]=${midnight(to, 1).toISOString()}`]),
  ].join('&');
