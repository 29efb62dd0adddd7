/**
 * Signed addresses of /api/v2, from which states, configurations and logs are uploaded and downloaded. They
 * need no token: the workspace service checks the signature, which must not appear in any record.
 */
import { decodePath } from '@keelson/edge';
import { REDACTED } from '@keelson/logging';

const TRANSFERS = /^\/(uploads|downloads)\//;
/** A misspelt address has no resource, but its signature may be valid. */
const MISSPELT_TRANSFERS = /\/(uploads|downloads)\//i;

/** @param path below the surface, percent-encoded */
export const isSignedAddress = (path: string): boolean => TRANSFERS.test(decodePath(path));

/**
 * The path as logs and audit entries show it: for a signed address, also a misspelt one, decoded and without the
 * signature, which follows the expiry time. Signatures in the query are recorded nowhere.
 * @param path below the surface, percent-encoded
 */
export const recordedPath = (path: string): string => {
  const decoded = decodePath(path);
  if (!MISSPELT_TRANSFERS.test(decoded)) return path;
  const segments = decoded.split('/');
  while (segments.at(-1) === '') segments.pop();
  const isSigned = /^\d{1,12}$/.test(segments.at(-2) ?? '');
  return (isSigned ? segments.with(-1, REDACTED) : segments).join('/');
};
