/**
 * Where mounts and namespaces were that are gone: what is deleted with them, and after them, is still
 * replicated or kept back by the path they had.
 */
import { jsonRecords } from '@keelson/storage';

/** With its namespaces, as filters name it. */
export interface FormerPlace {
  readonly path: string;
}

/** Key: uuid. */
export const formerMounts = jsonRecords<FormerPlace>('local/core/former-mounts/');
/** Key: namespace id. */
export const formerNamespaces = jsonRecords<FormerPlace>('local/core/former-namespaces/');
