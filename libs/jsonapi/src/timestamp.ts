/**
 * Timestamps of the API: UTC, milliseconds, "Z". Provisioning clients refuse any other form (an offset, a
 * bare date, an empty string), but accept null.
 */
export const toTimestamp = (epochMs: number): string => new Date(epochMs).toISOString();

const RFC_3339 =
  /^(\d{4}-\d{2}-(\d{2}))T(?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

const FIRST_MS = Date.parse('0000-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** Epoch milliseconds of an RFC 3339 time with a time zone, or undefined. */
export const parseTimestampMs = (text: string): number | undefined => {
  const [, date, day] = RFC_3339.exec(text) ?? [];
  if (date === undefined) return undefined;
  // A day that does not exist would be parsed as a day of the next month.
  if (new Date(`${date}T00:00:00Z`).getUTCDate() !== Number(day)) return undefined;
  const epochMs = Date.parse(text);
  // An offset may lead to a year without four digits.
  return epochMs >= FIRST_MS && epochMs <= LAST_MS ? epochMs : undefined;
};
