/** A history as operations of `/v1` answer with it. */
import { field, type JsonObject } from '@keelson/secrets-api';
import type { HistoryReport } from './history-recorder.ts';
import type { SeriesKinds, Values } from './history-records.ts';
import { HISTORY_WINDOWS, type HistoryWindow } from './windows.ts';

const isWindow = (text: string): text is HistoryWindow =>
  HISTORY_WINDOWS.some((window) => window === text);

/** Parameters of the operations. */
export const HISTORY_FIELDS = {
  window: field.string({
    description:
      '"hour", the last one in minutes; "day", the last one in steps of ten minutes; "month", the last 30 days in hours.',
    default: 'hour',
    check: (text) =>
      isWindow(text) ? undefined : `window is one of ${HISTORY_WINDOWS.join(', ')}`,
  }),
} as const;

/** The window that a request names; `HISTORY_FIELDS` refuses others. */
export const toWindow = (text: string): HistoryWindow => (isWindow(text) ? text : 'hour');

/** Says what the numbers mean, in descriptions of operations. */
export const HISTORY_TEXT =
  '`start_time` is the beginning of the first interval and `step_seconds` the length of each; the last interval contains the present. Each cluster has its own numbers, and keeps them for 30 days. A process that dies loses those of its last minute.';

export const historyDocument = (
  { span }: Pick<HistoryReport<SeriesKinds>, 'span'>,
  series: Readonly<Record<string, Values>>,
): JsonObject => ({
  start_time: new Date(span.fromMs).toISOString().replace('.000Z', 'Z'),
  step_seconds: span.stepMs / 1000,
  series: { ...series },
});
