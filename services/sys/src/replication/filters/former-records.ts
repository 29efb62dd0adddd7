/**
 * Last paths of removed mounts and namespaces. Deletions under them, also later ones, are still replicated or
 * withheld by these paths.
 */
import { jsonRecords } from '@keelson/storage';

/** Full path including the namespaces, as filters name it. */
export interface FormerPlace {
  readonly path: string;
}

/** Keys: mount uuids. */
export const formerMounts = jsonRecords<FormerPlace>('local/core/former-mounts/');
/** Keys: namespace ids. */
export const formerNamespaces = jsonRecords<FormerPlace>('local/core/former-namespaces/');
