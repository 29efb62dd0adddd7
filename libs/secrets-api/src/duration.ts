/**
 * Durations as secrets clients write them: a number of seconds, the same as text, or a sequence of
 * number and unit ("1h30m", "2d"). Units: ns us µs ms s m h d.
 */
const UNIT_SECONDS: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
};

const WHOLE = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h|d))+$/;
const PART = /(?<![\d.])(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h|d)/g;

/** Seconds, possibly with a fraction; undefined if the text is not a duration. */
const parseSeconds = (text: string): number | undefined => {
  const trimmed = text.trim();
  if (trimmed === '') return 0;
  if (/^[+-]?\d+$/.test(trimmed)) return Number(trimmed);
  if (trimmed.length > 64 || !WHOLE.test(trimmed)) return undefined;
  let seconds = 0;
  for (const [, amount, unit] of trimmed.matchAll(PART))
    seconds += Number(amount) * (UNIT_SECONDS[unit ?? ''] ?? 0);
  return trimmed.startsWith('-') ? -seconds : seconds;
};

/** Truncates a number to an integer without the sign of zero; undefined if the result is not exact. */
const toWhole = (value: number): number | undefined => {
  const whole = Math.trunc(value) + 0;
  return Number.isSafeInteger(whole) ? whole : undefined;
};

/** Whether a duration is shorter than a second but not 0, which often means that there is no limit. */
const isPartOfSecond = (seconds: number): boolean => seconds !== 0 && Math.abs(seconds) < 1;

/**
 * Whole seconds (a fraction is cut off), or undefined when the text is not a duration, too large to be exact,
 * or a fraction of a second, which would be truncated to 0. May be negative.
 */
export const parseDurationSeconds = (text: string): number | undefined => {
  const seconds = parseSeconds(text);
  return seconds === undefined || isPartOfSecond(seconds) ? undefined : toWhole(seconds);
};

/** Like `parseDurationSeconds`, in whole milliseconds. */
export const parseDurationMs = (text: string): number | undefined => {
  const seconds = parseSeconds(text);
  // Tenths and thousandths have no exact binary form: 1.005 s is a little less in memory.
  return seconds === undefined ? undefined : toWhole(Number((seconds * 1000).toFixed(6)));
};
