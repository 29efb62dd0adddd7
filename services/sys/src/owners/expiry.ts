/** Rows of an index by the end of its records, from which the records that have ended are found. */

/** 12 digits, in the order of the times. */
export const expirySeconds = (expiresAtMs: number): string =>
  String(Math.ceil(expiresAtMs / 1000)).padStart(12, '0');

/** The keys in those of the rows, `<seconds>/<key>`, whose time has come. */
export const dueKeys = (rows: readonly string[], nowMs: number): readonly string[] => {
  const latest = Math.floor(nowMs / 1000);
  return rows.flatMap((row) => {
    const slash = row.indexOf('/');
    return Number(row.slice(0, slash)) <= latest ? [row.slice(slash + 1)] : [];
  });
};
