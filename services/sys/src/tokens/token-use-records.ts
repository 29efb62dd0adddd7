/** When tokens were last used. A record of its own, so that a use conflicts with nothing that is done to the token. */
import { collection } from '@keelson/storage';
import { Type } from 'typebox';
import { OF_NAMESPACE } from '../owners/record-owners.ts';

/** Keys are `<namespace id>/<hash of the token>`. */
export const tokenUses = collection('service-token-uses', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: Type.Object({ atMs: Type.Number() }),
  owner: OF_NAMESPACE,
});
