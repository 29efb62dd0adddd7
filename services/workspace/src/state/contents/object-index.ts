/** Compares the objects of the storage with the index of contents, both in the order of their keys. */
import { listAll, type ObjectStorage, type StoredObject } from '@keelson/objects';
import { readableOnly, type Store } from '@keelson/storage';
import { CONTENT_OBJECTS, contentKey, parseContentKey } from './object-bodies.ts';
import { stateContents, unreferencedContents } from './state-content-records.ts';

/** An object that the index names. */
export interface ExpectedObject {
  readonly key: string;
  readonly digest: string;
}

const CONTENTS_PER_PAGE = 500;

/** The objects of a content; none if its bytes are in records, or if the record is damaged. */
export const objectsOf = async (
  store: Store,
  contentId: string,
): Promise<readonly ExpectedObject[]> => {
  const content = await stateContents.find(readableOnly(store), contentId);
  if (content?.place !== 'objects') return [];
  return content.digests.map((digest, index) => ({ key: contentKey(contentId, index), digest }));
};

async function* expectedObjects(store: Store): AsyncGenerator<ExpectedObject, undefined, void> {
  for (let after = ''; ; ) {
    const ids = await stateContents.keys(store, [], { after, limit: CONTENTS_PER_PAGE });
    for (const id of ids) yield* await objectsOf(store, id);
    const last = ids.at(-1);
    if (last === undefined || ids.length < CONTENTS_PER_PAGE) return undefined;
    after = last;
  }
}

export type Difference =
  | { readonly missing: ExpectedObject }
  | { readonly unexpected: StoredObject };

/** Objects that only the index has, and those that only the storage has. */
export async function* compareWithIndex(
  store: Store,
  storage: ObjectStorage,
): AsyncGenerator<Difference, void, void> {
  const stored = listAll(storage, CONTENT_OBJECTS);
  const expected = expectedObjects(store);
  let [have, want] = [await stored.next(), await expected.next()];
  while (have.done !== true || want.done !== true) {
    const haveKey = have.done === true ? undefined : have.value.key;
    const wantKey = want.done === true ? undefined : want.value.key;
    if (haveKey === wantKey) [have, want] = [await stored.next(), await expected.next()];
    else if (haveKey === undefined || (wantKey !== undefined && wantKey < haveKey)) {
      if (want.done !== true) yield { missing: want.value };
      want = await expected.next();
    } else {
      if (have.done !== true) yield { unexpected: have.value };
      have = await stored.next();
    }
  }
}

/** Whether a record refers to the object, or awaits its removal or the end of its upload. */
export const isKnown = async (store: Store, key: string): Promise<boolean> => {
  const parsed = parseContentKey(key);
  // Something else may lie in the same bucket.
  if (parsed === undefined) return true;
  // As stored, because a damaged record may still be repaired.
  const records = [stateContents, unreferencedContents].map((one) => one.path(parsed.contentId));
  return (await store.stored.read(records)).length > 0;
};
