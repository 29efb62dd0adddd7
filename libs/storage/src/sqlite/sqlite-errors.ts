/** What SQLite reports, as the store's codes; anything else stays what it is and counts as a bug. */
import { type ErrorCode, KeelsonError } from '@keelson/errors';

/** Primary result codes: https://www.sqlite.org/rescode.html */
const CODES: Readonly<Record<number, ErrorCode>> = {
  5: 'storage.unavailable', // BUSY: another process holds the file
  8: 'storage.read_only',
  10: 'storage.unavailable', // IOERR
  11: 'storage.corrupt',
  13: 'storage.full',
  14: 'storage.unavailable', // CANTOPEN
  26: 'storage.corrupt', // NOTADB
};

export const fromSqliteError = (error: unknown): unknown => {
  if (!(error instanceof Error) || !('errcode' in error)) return error;
  const code = CODES[Number(error.errcode) & 0xff];
  return code === undefined
    ? error
    : new KeelsonError(code, { reason: error.message }, { cause: error });
};

/** @throws what `work` throws, with the store's code where SQLite reported it */
export const guarded = <T>(work: () => T): T => {
  try {
    return work();
  } catch (error) {
    throw fromSqliteError(error);
  }
};
