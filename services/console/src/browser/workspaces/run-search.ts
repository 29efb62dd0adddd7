/** Filters of the runs of a workspace, as kept in the address bar and sent to the API. */

/** Runs to be shown, as the API names them. */
const CHOICES = {
  waiting: ['Wait for somebody', 'filter[status]=planned'],
  working: ['Are in progress', 'filter[status_group]=non_final'],
  ended: ['Have ended', 'filter[status_group]=final'],
  errored: ['Have failed', 'filter[status]=errored'],
} as const;

export type RunChoice = keyof typeof CHOICES;

/** The choices with their words. */
export const RUN_CHOICES: readonly (readonly [choice: RunChoice, words: string])[] = (
  ['waiting', 'working', 'ended', 'errored'] as const
).map((choice) => [choice, CHOICES[choice][0]]);

export interface RunSearch {
  /** Which runs; all without it. */
  readonly runs?: RunChoice;
  /** Part of a message, a commit or the name of a person. */
  readonly text?: string;
  readonly page?: number;
}

/** The filters in an address. */
export const parseRunSearch = (search: Readonly<Record<string, unknown>>): RunSearch => {
  const { text } = search;
  const [choice] = RUN_CHOICES.find(([one]) => one === search['runs']) ?? [];
  const page = Number(search['page']);
  return {
    ...(choice !== undefined && { runs: choice }),
    ...((typeof text === 'string' || typeof text === 'number') &&
      text !== '' && { text: String(text) }),
    ...(Number.isInteger(page) && page > 1 && { page }),
  };
};

const PAGE_SIZE = 20;
const INCLUDED = 'plan,created_by,configuration_version,configuration_version.ingress_attributes';

/** Runs of every kind: the API leaves out those that only plan unless they are named. */
const OPERATIONS =
  'filter[operation]=plan_only,plan_and_apply,save_plan,refresh_only,destroy,empty_apply,assess';

/** The API query for a set of filters. */
export const runQuery = ({ runs, text, page = 1 }: RunSearch): string =>
  [
    `page[size]=${PAGE_SIZE}`,
    `page[number]=${page}`,
    `include=${INCLUDED}`,
    OPERATIONS,
    ...(runs === undefined ? [] : [CHOICES[runs][1]]),
    ...(text === undefined ? [] : [`search[basic]=${encodeURIComponent(text)}`]),
  ].join('&');
