/** The periods that a history is asked for, and the intervals into which it divides them. */

export const HISTORY_WINDOWS = ['hour', 'day', 'month'] as const;
export type HistoryWindow = (typeof HISTORY_WINDOWS)[number];

const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** Number of intervals and the length of each: an hour in minutes, a day in tens of minutes, 30 days in hours. */
const DIVISIONS: Readonly<
  Record<HistoryWindow, { readonly count: number; readonly stepMs: number }>
> = {
  hour: { count: 60, stepMs: MINUTE_MS },
  day: { count: 144, stepMs: 10 * MINUTE_MS },
  month: { count: 720, stepMs: HOUR_MS },
};

/** Rows are kept for as long as the longest window reaches back. */
export const KEPT_MS = DIVISIONS.month.count * DIVISIONS.month.stepMs;

/** Intervals of equal length that follow each other. */
export interface HistorySpan {
  /** Beginning of the first interval. */
  readonly fromMs: number;
  readonly stepMs: number;
  readonly count: number;
}

/** The intervals of a window, which begin at whole minutes or hours; the last one contains `nowMs`. */
export const spanOf = (window: HistoryWindow, nowMs: number): HistorySpan => {
  const { count, stepMs } = DIVISIONS[window];
  return { fromMs: (Math.floor(nowMs / stepMs) - count + 1) * stepMs, stepMs, count };
};

/** The minute of a time, as its first millisecond. */
export const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS;

/** The hour of a time as the key of its record, which sorts by time: "2030-01-01T07". */
export const hourKey = (ms: number): string => new Date(ms).toISOString().slice(0, 13);

/** The first millisecond of the hour of a key. */
export const startOfHour = (key: string): number => Date.parse(`${key}:00:00Z`);

/** The minutes since the beginning of the hour, as the name of a row: "0" to "59". */
export const minuteName = (ms: number): string => String(Math.floor((ms % HOUR_MS) / MINUTE_MS));
