import { toTimestamp } from '@keelson/jsonapi';

/** The attribute `status-timestamps`: the time of each status that was reached. */
export const toStatusTimestamps = (
  timesMs: Readonly<Record<string, number | undefined>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(timesMs).flatMap(([status, atMs]) =>
      atMs === undefined ? [] : [[`${status.replaceAll('_', '-')}-at`, toTimestamp(atMs)]],
    ),
  );
