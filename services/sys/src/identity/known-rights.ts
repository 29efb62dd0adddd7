/** Rights of entities, kept in memory for as long as no record that they were read from has changed. */
import { recordReads, type Store } from '@keelson/storage';
import { LRUCache } from 'lru-cache';
import type { EntityRights, TokenContext } from '../tokens/token-context.ts';
import { findEntityRights } from './entity-rights-operations.ts';

/** Entities whose rights are kept: reading those of one with five groups costs as much as five decisions. */
const MAX_KNOWN = 4096;

interface KnownRights {
  readonly rights: EntityRights | undefined;
  readonly isStillValid: () => Promise<boolean>;
}

/** The rights as of each call. */
export const followEntityRights = (store: Store): TokenContext['identityOf'] => {
  const known = new LRUCache<string, KnownRights>({ max: MAX_KNOWN });
  return async (entity) => {
    const key = `${entity.namespaceId}/${entity.id}`;
    const held = known.get(key);
    if (held !== undefined && (await held.isStillValid())) return held.rights;
    const { reads, isStillValid } = await recordReads(store);
    const rights = await findEntityRights(reads, entity);
    known.set(key, { rights, isStillValid });
    return rights;
  };
};
