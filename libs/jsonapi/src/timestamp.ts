/**
 * Timestamps of the API: UTC, milliseconds, "Z". Provisioning clients refuse any other shape (an
 * offset, a bare date, an empty string), while null always passes.
 */
export const toTimestamp = (epochMs: number): string => new Date(epochMs).toISOString();

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** Epoch milliseconds of an RFC 3339 time with a zone, or undefined. */
export const parseTimestampMs = (text: string): number | undefined => {
  if (!RFC_3339.test(text)) return undefined;
  const epochMs = Date.parse(text);
  return Number.isNaN(epochMs) ? undefined : epochMs;
};
