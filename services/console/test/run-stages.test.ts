import { expect, test } from 'vitest';
import { errorsIn } from '../src/browser/runs/log-errors.ts';
import { formatDuration, stagesOf } from '../src/browser/runs/run-stages.ts';

const at = (seconds: number): string => new Date(seconds * 1000).toISOString();
const shown = (status: string, times: Readonly<Record<string, number>>, planOnly = false) =>
  stagesOf({
    status,
    'created-at': at(0),
    'status-timestamps': Object.fromEntries(
      Object.entries(times).map(([name, seconds]) => [`${name}-at`, at(seconds)]),
    ),
    'plan-only': planOnly,
  }).map(({ title, state, beganAt, endedAt }) =>
    [
      title,
      state,
      beganAt === undefined || endedAt === undefined
        ? '–'
        : formatDuration(Date.parse(beganAt), Date.parse(endedAt)),
    ].join(' '),
  );

test.for([
  [
    'pending',
    {},
    false,
    'Pending current –, Plan ahead –, Confirm ahead –, Apply ahead –, Done ahead –',
  ],
  [
    'planning',
    { planning: 3 },
    false,
    'Pending done 3 s, Plan current –, Confirm ahead –, Apply ahead –, Done ahead –',
  ],
  [
    'planned',
    { planning: 3, planned: 44 },
    false,
    'Pending done 3 s, Plan done 41 s, Confirm current –, Apply ahead –, Done ahead –',
  ],
  [
    'applied',
    { planning: 3, planned: 44, confirmed: 104, applying: 105, applied: 170 },
    false,
    'Pending done 3 s, Plan done 41 s, Confirm done 1 min 0 s, Apply done 1 min 6 s, Done done –',
  ],
  [
    'planned_and_finished',
    { planning: 3, 'planned-and-finished': 9 },
    false,
    'Pending done 3 s, Plan done 6 s, Done done –',
  ],
  ['planning', { planning: 3 }, true, 'Pending done 3 s, Plan current –, Done ahead –'],
  [
    'errored',
    { planning: 3, errored: 9 },
    false,
    'Pending done 3 s, Plan done 6 s, Errored ended –',
  ],
  [
    'discarded',
    { planning: 3, planned: 9, discarded: 20 },
    false,
    'Pending done 3 s, Plan done 6 s, Confirm done 11 s, Discarded ended –',
  ],
  [
    'force_canceled',
    { planning: 3, 'force-canceled': 9 },
    false,
    'Pending done 3 s, Plan done 6 s, Force canceled ended –',
  ],
] as const)('a run that is %s with %j', ([status, times, planOnly, expected]) => {
  expect(shown(status, times, planOnly).join(', ')).toBe(expected);
});

test('durations have two units at most', () => {
  expect([0, 59_400, 61_000, 3_720_000].map((ms) => formatDuration(0, ms))).toEqual([
    '0 s',
    '59 s',
    '1 min 1 s',
    '1 h 2 min',
  ]);
});

test('errors are cut out of a log, with their place', () => {
  const log = [
    'Planning…',
    '╷',
    '│ Warning: something is old',
    '╵',
    '╷',
    '│ Error: Invalid reference',
    '│ ',
    '│   on main.tf line 3, in resource "machine" "one":',
    '│    3:   name = nothing.at.all',
    '╵',
    '',
  ].join('\n');
  expect(errorsIn(log)).toEqual([
    'Error: Invalid reference\n\n  on main.tf line 3, in resource "machine" "one":\n   3:   name = nothing.at.all',
  ]);
  expect(errorsIn('fine\nError: it failed\n  because of this\n\nmore\nError: again\n')).toEqual([
    'Error: it failed\n  because of this',
    'Error: again',
  ]);
  expect(errorsIn('Apply complete!\n')).toEqual([]);
});
