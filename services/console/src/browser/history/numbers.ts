/** Numbers over time, as both APIs answer with them. */

/** The periods by their names in the APIs, and in words. */
export const PERIODS = {
  hour: 'the last hour',
  day: 'the last day',
  month: 'the last 30 days',
} as const;
export type Period = keyof typeof PERIODS;

export interface Numbers {
  /** Beginning of the first interval. */
  readonly startMs: number;
  /** Length of each interval. */
  readonly stepMs: number;
  /** A value for each interval, by the name of the series; null where none is known. */
  readonly series: Readonly<Record<string, readonly (number | null)[]>>;
}

/** Numbers are those of whole minutes. */
export const REFRESH_MS = 60_000;

/** Beginnings of the intervals. */
export const timesOf = ({ startMs, stepMs, series }: Numbers): readonly number[] => {
  const count = Math.max(0, ...Object.values(series).map((values) => values.length));
  return Array.from({ length: count }, (_, at) => startMs + at * stepMs);
};

const TIME = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const DATE = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

/** Words below the axis of time. */
export const timeTextOf =
  (period: Period) =>
  (ms: number): string =>
    (period === 'month' ? DATE : TIME).format(ms);
