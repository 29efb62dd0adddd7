/** Times, durations and counts in words for people. */

// A formatter takes a slow processor many milliseconds to make, before the first page is shown.
let moment: Intl.DateTimeFormat | undefined;
let exact: Intl.DateTimeFormat | undefined;
let relative: Intl.RelativeTimeFormat | undefined;

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

export const formatTime = (time: string | number | null | undefined): string => {
  if (time === null || time === undefined || time === '') return '–';
  moment ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  return moment.format(new Date(time));
};

/** To the second, with the zone. */
export const formatExactTime = (time: string | number): string => {
  exact ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
  return exact.format(new Date(time));
};

/** "in 3 days", "2 hours ago". */
export const formatDistance = (time: string | number, nowMs: number): string => {
  const seconds = (new Date(time).getTime() - nowMs) / 1000;
  relative ??= new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
  for (const [unit, size] of STEPS)
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  return relative.format(Math.trunc(seconds), 'second');
};

/** @param seconds 0 means the default of the engine or the system */
export const formatSeconds = (seconds: number): string => {
  if (seconds === 0) return 'default';
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ] as const;
  const parts: string[] = [];
  let left = seconds;
  for (const [unit, size] of units) {
    const count = Math.floor(left / size);
    if (count > 0) parts.push(`${count} ${unit}`);
    left -= count * size;
  }
  return parts.slice(0, 2).join(' ');
};

/** "1 run", "3 runs". */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`;

/** "planned_and_finished" as "planned and finished". */
export const inWords = (name: string): string => name.replaceAll(/[_-]/g, ' ');
