/**
 * The mark of the records to which the objects below a prefix belong. A cluster removes nothing where another
 * one has left its mark, such as an empty cluster that is waiting for a snapshot.
 */

import { randomUUID } from 'node:crypto';
import { MAX_LISTED, type ObjectStorage } from '@keelson/objects';
import { collection, type Store } from '@keelson/storage';
import { Type } from 'typebox';
import { CONTENT_OBJECTS } from './object-bodies.ts';
import { isKnown } from './object-index.ts';

/** The same id on all clusters of a set, and in what is restored from a snapshot. */
const owners = collection('object-owner', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ id: Type.String() }),
});
const OWNER_KEY = 'owner';
const MARK = 'owner';

const loadOwnId = async (store: Store, isSecondary: boolean): Promise<string | undefined> => {
  const found = await owners.find(store, OWNER_KEY);
  // A secondary receives that of its primary.
  if (found !== undefined || isSecondary) return found?.id;
  const made = randomUUID();
  return store.transact(async (tx) => {
    const other = await owners.find(tx, OWNER_KEY);
    if (other === undefined) owners.write(tx, [OWNER_KEY], { id: made });
    return other?.id ?? made;
  });
};

/** Whether the objects belong to the records of this cluster, which marks a storage without a mark. */
export const ownsObjects = async (
  store: Store,
  storage: ObjectStorage,
  isSecondary: boolean,
): Promise<boolean> => {
  const id = await loadOwnId(store, isSecondary);
  if (id === undefined) return false;
  const mark = await storage.get(MARK);
  if (mark !== undefined) return Buffer.from(mark).toString() === id;
  // An upload may have come before the mark.
  for (const { key } of await storage.list(CONTENT_OBJECTS, { limit: MAX_LISTED }))
    if (!(await isKnown(store, key))) return false;
  await storage.put(MARK, Buffer.from(id));
  return true;
};
