/** Maps errors of SQLite to the store's error codes; other errors are passed on and count as bugs. */
import { type ErrorCode, KeelsonError } from '@keelson/errors';

const IOERR = 10;

/** Primary result codes: https://www.sqlite.org/rescode.html */
const CODES: Readonly<Record<number, ErrorCode>> = {
  5: 'storage.unavailable', // BUSY: another process holds the file
  8: 'storage.read_only',
  [IOERR]: 'storage.unavailable',
  11: 'storage.corrupt',
  13: 'storage.full',
  14: 'storage.unavailable', // CANTOPEN
  26: 'storage.corrupt', // NOTADB
};

/** Whether a write or flush failed, which leaves the content of the disk unknown. */
export const isFailedDisk = (error: { readonly errcode: number }): boolean =>
  (error.errcode & 0xff) === IOERR;

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
