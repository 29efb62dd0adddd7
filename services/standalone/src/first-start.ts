/**
 * The first start: initializes the cluster, makes the first administrator, and keeps what only this
 * start can tell. When it is interrupted before the facts are on disk, nobody has them: the next start
 * begins anew. A marker file tells that case from a data folder whose facts were removed on purpose.
 */
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import type { DataFolder } from './data-folder.ts';

const MARKER = 'first-start-unfinished';

/** Stores of the services, by service name. */
export const STORE_SERVICES = ['sys', 'pki', 'workspace'] as const;
export type StoreService = (typeof STORE_SERVICES)[number];

export const storeFile = (folder: DataFolder, service: StoreService): string =>
  folder.file(`${service}.sqlite`);

export const unsealKeyFile = (folder: DataFolder): string => folder.file('unseal.key');

/** Removes what an unfinished first start left; to be called before the stores are opened. */
export const discardUnfinishedStart = (folder: DataFolder): void => {
  if (!existsSync(folder.file(MARKER))) return;
  for (const service of STORE_SERVICES)
    for (const suffix of ['', '-wal', '-redo'])
      rmSync(storeFile(folder, service) + suffix, { force: true });
  rmSync(unsealKeyFile(folder), { force: true });
};

export const beginFirstStart = (folder: DataFolder): void =>
  closeSync(openSync(folder.file(MARKER), 'w', 0o600));

export const finishFirstStart = (folder: DataFolder): void => rmSync(folder.file(MARKER));
