/**
 * Signed addresses of /api/v2, where the content of states, configurations and logs comes and goes. Who
 * has one needs no token: its signature, which the workspace service checks, belongs into no record.
 */
import { decodePath } from '@keelson/edge';
import { REDACTED } from '@keelson/logging';

const TRANSFERS = /^\/(uploads|downloads)\//;

/** @param path below the surface, percent-encoded */
export const isSignedAddress = (path: string): boolean => TRANSFERS.test(decodePath(path));

/**
 * The path as it is logged and put on record: of a signed address decoded, and without the signature that
 * follows the time it expires at. One in the query is recorded nowhere.
 * @param path below the surface, percent-encoded
 */
export const recordedPath = (path: string): string => {
  const decoded = decodePath(path);
  if (!TRANSFERS.test(decoded)) return path;
  const segments = decoded.split('/');
  while (segments.at(-1) === '') segments.pop();
  const isSigned = /^\d{1,12}$/.test(segments.at(-2) ?? '');
  return (isSigned ? segments.with(-1, REDACTED) : segments).join('/');
};
