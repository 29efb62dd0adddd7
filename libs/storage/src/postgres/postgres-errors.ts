/** Maps errors of PostgreSQL and of the connection to it to the store's error codes. */
import { type ErrorCode, KeelsonError } from '@keelson/errors';
import pg from 'pg';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const CODES: Readonly<Record<string, ErrorCode>> = {
  '40001': 'storage.conflict', // serialization failure
  '40P01': 'storage.conflict', // deadlock
  '53100': 'storage.full',
  XX001: 'storage.corrupt',
  XX002: 'storage.corrupt',
};

/** Syntax, constraint and data errors, which are bugs of Keelson and not faults of the server. */
const isBug = (sqlState: string): boolean => /^(22|23|42)/.test(sqlState);

export const fromPostgresError = (error: unknown): unknown => {
  if (!(error instanceof Error) || error instanceof KeelsonError) return error;
  const sqlState = error instanceof pg.DatabaseError ? (error.code ?? '') : '';
  if (isBug(sqlState)) return error;
  const code = CODES[sqlState] ?? 'storage.unavailable';
  return new KeelsonError(code, { reason: error.message }, { cause: error });
};
