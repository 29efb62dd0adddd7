/** Entry point of the object storage. */
export { openFolderStorage } from './folder-storage.ts';
export { objectStorageSettings, openConfiguredStorage } from './object-settings.ts';
export { listAll, MAX_LISTED, type ObjectStorage, type StoredObject } from './object-storage.ts';
export { type WatchedStorage, watchStorage } from './watched-storage.ts';
