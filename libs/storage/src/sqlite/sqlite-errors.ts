/** Maps errors of SQLite to the store's error codes; other errors are passed on and count as bugs. */
import { type ErrorCode, KeelsonError } from '@keelson/errors';
import type { StoreFaults } from '../store-faults.ts';

const IOERR = 10;
/** The index of the log, a file in shared memory's place, cannot grow: nothing was committed. */
const IOERR_SHMSIZE = 4874;

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
  (error.errcode & 0xff) === IOERR && error.errcode !== IOERR_SHMSIZE;

export const fromSqliteError = (error: unknown): unknown => {
  if (!(error instanceof Error) || !('errcode' in error)) return error;
  const errcode = Number(error.errcode);
  const code = errcode === IOERR_SHMSIZE ? 'storage.full' : CODES[errcode & 0xff];
  return code === undefined
    ? error
    : new KeelsonError(code, { reason: error.message }, { cause: error });
};

/**
 * @param faults begin when SQLite finds the file damaged
 * @throws what `work` throws, with the store's code where SQLite reported it
 */
export const guarded = <T>(work: () => T, faults?: StoreFaults): T => {
  try {
    return work();
  } catch (error) {
    const known = fromSqliteError(error);
    throw faults === undefined ? known : faults.note(known);
  }
};
