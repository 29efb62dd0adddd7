import { openFolderStorage } from '@keelson/objects';
import { createBarrier, openBarrierFor, openSqliteStore, type Store } from '@keelson/storage';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerContentBodiesContract } from './content-bodies.contract.ts';
import { contentKey, objectBodies } from './object-bodies.ts';
import { recordBodies } from './record-bodies.ts';

let folder: TemporaryDirectory;
let store: Store;
const storage = () => openFolderStorage(`${folder.path}/objects`);
beforeAll(async () => {
  folder = await temporaryDirectory();
  const barrier = createBarrier();
  store = await openSqliteStore({ file: `${folder.path}/store.db`, barrier, projections: [] });
  await openBarrierFor(store, barrier, new Uint8Array(32).fill(5));
});
afterAll(async () => {
  await store.close();
  await folder[Symbol.asyncDispose]();
});

registerContentBodiesContract('records', () => ({
  bodies: recordBodies(store),
  store,
  damage: async (contentId, index) => {
    const path = `shared/state-chunks/${contentId}/${String(index).padStart(8, '0')}`;
    await store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
  },
}));

const bodies = () => objectBodies({ storage: storage(), store, keepMs: 0 });

registerContentBodiesContract('object storage', () => ({
  bodies: bodies(),
  store,
  damage: async (contentId, index) => {
    const key = contentKey(contentId, index);
    const stored = Buffer.from((await storage().get(key)) ?? []);
    stored[stored.length - 1] = (stored.at(-1) ?? 0) ^ 1;
    await storage().put(key, stored);
  },
}));

test('an object that was moved to another key cannot be read there', async () => {
  const digest = await bodies().write('sc-first', 0, Buffer.from('of the first'));
  const stored = await storage().get(contentKey('sc-first', 0));
  await storage().put(contentKey('sc-second', 0), stored ?? new Uint8Array());
  await expect(bodies().read('sc-second', 0, digest)).rejects.toThrow('damaged or was moved');
});
