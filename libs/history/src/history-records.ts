/**
 * The records of a history: one for each hour, with a row for each minute in which something happened. Hours keep
 * the number of records small, which makes thirty days 720 reads at most.
 */
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { type HistorySpan, minuteName, startOfHour } from './windows.ts';

const historyShape = Type.Object({
  /** By the minute of the hour, then by series. */
  minutes: Type.Record(Type.String(), Type.Record(Type.String(), Type.Number())),
});

/** Format of the collections in which services keep their histories. Keys are hours: "2030-01-01T07". */
export const historyFormat = { version: 1, shape: historyShape } as const;

export type HistoryRecord = Shaped<typeof historyShape>;

/** How two values of a series make one: counts are added, of peaks the greater one stays. */
export type SeriesKind = 'count' | 'peak';

/** The series of a history, and the kind of each. */
export type SeriesKinds = Readonly<Record<string, SeriesKind>>;

/** Values of one minute by series. */
export type Row = ReadonlyMap<string, number>;

const MINUTE_MS = 60_000;

export const combined = (kind: SeriesKind | undefined, one: number, other: number): number =>
  kind === 'peak' ? Math.max(one, other) : one + other;

/** The record of an hour with further rows, by the times of their minutes. */
export const withRows = (
  record: HistoryRecord | undefined,
  rows: ReadonlyMap<number, Row>,
  kinds: SeriesKinds,
): HistoryRecord => {
  const minutes: Record<string, Readonly<Record<string, number>>> = { ...record?.minutes };
  for (const [minuteMs, row] of rows) {
    const name = minuteName(minuteMs);
    const before = minutes[name] ?? {};
    const after: Record<string, number> = { ...before };
    for (const [series, value] of row) {
      const stored = before[series];
      after[series] = stored === undefined ? value : combined(kinds[series], stored, value);
    }
    minutes[name] = after;
  }
  return { minutes };
};

/** A value for each interval. A count without a row is 0; a peak without one is not known, and null. */
export type Values = readonly (number | null)[];

/** The values of all series in the intervals of a span. */
export const valuesOf = <Kinds extends SeriesKinds>(
  hours: readonly (readonly [string, HistoryRecord])[],
  { fromMs, stepMs, count }: HistorySpan,
  kinds: Kinds,
): Readonly<Record<keyof Kinds, Values>> => {
  const values = Object.fromEntries(
    Object.entries(kinds).map(([series, kind]) => [
      series,
      Array.from({ length: count }, (): number | null => (kind === 'peak' ? null : 0)),
    ]),
  );
  for (const [hour, { minutes }] of hours)
    for (const [minute, row] of Object.entries(minutes)) {
      const at = Math.floor((startOfHour(hour) + Number(minute) * MINUTE_MS - fromMs) / stepMs);
      for (const [series, value] of Object.entries(row)) {
        const own = values[series];
        if (own === undefined || at < 0 || at >= count) continue;
        const before = own[at];
        own[at] = before == null ? value : combined(kinds[series], before, value);
      }
    }
  return values as unknown as Readonly<Record<keyof Kinds, Values>>;
};
