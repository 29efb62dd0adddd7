/** When messages are shown, as bars on a time line around now. */
import type { MessageInfo } from './message.ts';
import type { MessageState } from './message-search.ts';

const DAY_MS = 86_400_000;
/** The time line reaches this far into the past and the future at most. */
const [MAX_PAST_MS, MAX_FUTURE_MS] = [30 * DAY_MS, 90 * DAY_MS];
const MARGIN_MS = DAY_MS;

type Times = Pick<MessageInfo, 'start_time' | 'end_time'>;

export const stateOf = (message: Times, nowMs: number): MessageState => {
  if (Date.parse(message.start_time) > nowMs) return 'scheduled';
  return message.end_time !== null && Date.parse(message.end_time) <= nowMs ? 'over' : 'active';
};

export interface Bar {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Schedule {
  readonly fromMs: number;
  readonly untilMs: number;
  /** A bar per message, cut at the ends of the time line; undefined outside of it. */
  readonly bars: readonly (Bar | undefined)[];
}

/** @param messages in any order; one without an end lasts to the end of the time line */
export const scheduleOf = (messages: readonly Times[], nowMs: number): Schedule => {
  const spans = messages.map(({ start_time: start, end_time: end }) => ({
    fromMs: Date.parse(start),
    untilMs: end === null ? Number.POSITIVE_INFINITY : Date.parse(end),
  }));
  const moments = spans
    .flatMap(({ fromMs, untilMs }) => [fromMs, untilMs])
    .filter((ms) => ms >= nowMs - MAX_PAST_MS && ms <= nowMs + MAX_FUTURE_MS);
  const fromMs = Math.min(nowMs, ...moments) - MARGIN_MS;
  const untilMs = Math.max(nowMs, ...moments) + MARGIN_MS;
  const bars = spans.map((span) =>
    span.untilMs < fromMs || span.fromMs > untilMs
      ? undefined
      : { fromMs: Math.max(span.fromMs, fromMs), untilMs: Math.min(span.untilMs, untilMs) },
  );
  return { fromMs, untilMs, bars };
};
