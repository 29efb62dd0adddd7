import { collection } from '@keelson/storage';
import { Type } from 'typebox';

/**
 * Token id -> its last use on this cluster, at most an hour before the actual one. Local, because each cluster
 * records the uses of its own callers, also one that follows another.
 */
export const tokenUses = collection('token-uses', {
  scope: 'local',
  version: 1,
  shape: Type.Object({ atMs: Type.Number() }),
});
