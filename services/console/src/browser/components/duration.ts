/** Durations as both people and the administration API write them: "90", "36h", "1h30m". */

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

const WHOLE = /^(?:\d+|(?:\d+[smhd])+)$/;

/** For the `pattern` of an input. */
export const DURATION = WHOLE.source;
/** For the `title` of an input. */
export const DURATION_WORDS = 'a number of seconds, or numbers with s, m, h or d';

/** Seconds of a duration; undefined if the text is not a duration. */
export const durationSeconds = (text: string): number | undefined => {
  if (!WHOLE.test(text)) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  return [...text.matchAll(/(?<!\d)(\d+)([smhd])/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (UNIT_SECONDS[unit] ?? 0),
    0,
  );
};

/** Seconds as a duration in the largest unit that divides them: "36h". */
export const durationText = (seconds: number): string => {
  if (seconds === 0) return '0';
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
};
