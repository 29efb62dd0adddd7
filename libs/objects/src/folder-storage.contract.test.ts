import { temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll } from 'vitest';
import { openFolderStorage } from './folder-storage.ts';
import { registerObjectStorageContract } from './object-storage.contract.ts';

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(() => folder[Symbol.asyncDispose]());

registerObjectStorageContract('folder', () => ({
  open: () => openFolderStorage(`${folder.path}/objects`),
}));
