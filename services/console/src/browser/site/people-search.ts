/** Search of people, as kept in the address bar. */

export const PEOPLE_CHOICES = [
  ['administrators', 'Administrators of the site', 'filter[admin]=true'],
  ['suspended', 'Suspended', 'filter[suspended]=true'],
] as const;

export interface PeopleSearch {
  /** Part of a user name or mail address. */
  readonly text?: string;
  readonly show?: (typeof PEOPLE_CHOICES)[number][0];
}

/** The search in an address. */
export const parsePeopleSearch = (search: Readonly<Record<string, unknown>>): PeopleSearch => {
  const { text } = search;
  const [show] = PEOPLE_CHOICES.find(([choice]) => choice === search['show']) ?? [];
  return {
    ...(typeof text === 'string' && text !== '' && { text }),
    ...(show !== undefined && { show }),
  };
};

/** The address of the list below `/api/v2/`, without the page. */
export const peoplePath = ({ text, show }: PeopleSearch): string => {
  const [, , filter] = PEOPLE_CHOICES.find(([choice]) => choice === show) ?? [];
  const parts = [
    ...(text === undefined ? [] : [`q=${encodeURIComponent(text)}`]),
    ...(filter === undefined ? [] : [filter]),
  ];
  return parts.length === 0 ? 'admin/users' : `admin/users?${parts.join('&')}`;
};
