/**
 * Paths where POST creates what is not there yet: it then needs `create` instead of `update`. All other
 * paths know no difference and use `update`.
 */
import type { Store } from '@keelson/storage';
import { cubbyholeOf } from '../cubbyhole/cubbyhole-records.ts';
import { roles, type TokenRef } from '../tokens/token-records.ts';

const ROLE_PREFIX = 'auth/token/roles/';
const CUBBYHOLE_PREFIX = 'cubbyhole/';
const MESSAGES = 'sys/config/ui/custom-messages';

/** False: a write to `path` creates. */
export const existsAlready = async (
  store: Store,
  path: string,
  namespaceId: string,
  token: TokenRef,
): Promise<boolean> => {
  // Posting to the collection always makes a new message.
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
