/**
 * Last paths of removed mounts and namespaces. Deletions under them, also later ones, are still replicated or
 * withheld by these paths.
 */

import { collection } from '@keelson/storage';
import { Type } from 'typebox';

/** Full path including the namespaces, as filters name it. */
export const formerPlaceShape = Type.Object({ path: Type.String() });

/** Keys: mount uuids. */
export const formerMounts = collection('core/former-mounts', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: formerPlaceShape,
});
/** Keys: namespace ids. */
export const formerNamespaces = collection('core/former-namespaces', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: formerPlaceShape,
});
