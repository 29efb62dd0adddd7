/** Entry point. */
export {
  createHistory,
  type History,
  type HistoryParts,
  type HistoryReport,
  historyWork,
} from './history-recorder.ts';
export { historyFormat } from './history-records.ts';
export { DURATION_BOUNDS_MS, durationSlot, quantileMs } from './request-durations.ts';
export { HISTORY_WINDOWS, type HistorySpan, type HistoryWindow, spanOf } from './windows.ts';
