/**
 * Paths where POST creates what does not exist yet, which requires `create` instead of `update`. On all other
 * paths there is no such difference, and POST requires `update`.
 */
import type { Store } from '@keelson/storage';
import { cubbyholeOf } from '../cubbyhole/cubbyhole-records.ts';
import { roles, type TokenRef } from '../tokens/token-records.ts';

const ROLE_PREFIX = 'auth/token/roles/';
const CUBBYHOLE_PREFIX = 'cubbyhole/';
const MESSAGES = 'sys/config/ui/custom-messages';

/** False when a write to `path` creates something. */
export const existsAlready = async (
  store: Store,
  path: string,
  namespaceId: string,
  token: TokenRef,
): Promise<boolean> => {
  // Posting to the collection always creates a message.
  if (path === MESSAGES) return false;
  if (path.startsWith(ROLE_PREFIX)) {
    return (
      (await roles.find(store, `${namespaceId}/${path.slice(ROLE_PREFIX.length)}`)) !== undefined
    );
  }
  if (path.startsWith(CUBBYHOLE_PREFIX)) {
    const key = path.slice(CUBBYHOLE_PREFIX.length);
    return (await cubbyholeOf(token).find(store, key)) !== undefined;
  }
  return true;
};
