/**
 * The first start creates the cluster, its first administrator, and the secrets that are shown only
 * once. Whether a start is the first one is decided by the names in the data folder, before any
 * file is opened: an incomplete folder is refused without changes. A marker lies in the folder from
 * before anything else is made until the facts are on disk, so a first start that was interrupted
 * is finished by the next one. No start removes or replaces anything but that marker.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { removeFileDurably, writeFileDurably } from '@keelson/runtime';
import type { DataFolder } from './data-folder.ts';

/** The last sentence of a refusal to start: the remedy for files that do not belong together. */
export const putBack = (what: string): string =>
  `Nothing was changed. Put back ${what}, from a copy of the same moment as the rest (docs/backup.md).`;

const MARKER = 'first-start-unfinished';
const FIRST_RUN = 'first-run.json';
const UNSEAL_KEY = 'unseal.key';
const TLS_FOLDER = 'tls';
/** See store-positions.ts. */
export const POSITIONS = 'store-positions.json';

/** Stores of the services, by service name. */
export const STORE_SERVICES = ['sys', 'pki', 'workspace', 'auth'] as const;
export type StoreService = (typeof STORE_SERVICES)[number];

const storeName = (service: StoreService): string => `${service}.sqlite`;

/** The files of a data folder, whether or not this process holds its lock. */
export type DataFiles = Pick<DataFolder, 'file'>;

export const storeFile = (folder: DataFiles, service: StoreService): string =>
  folder.file(storeName(service));

export const firstRunFile = (folder: DataFiles): string => folder.file(FIRST_RUN);

/** Key file of the seal, unless a setting names another one. */
export const unsealKeyFile = (folder: DataFiles): string => folder.file(UNSEAL_KEY);

/** Folder of the certificate that Keelson issues to itself. */
export const tlsFolder = (folder: DataFiles): string => folder.file(TLS_FOLDER);

/** Whether a file is one that only a cluster creates; a store's logs share its name as a prefix. */
const isOfCluster = (name: string): boolean =>
  [FIRST_RUN, UNSEAL_KEY, TLS_FOLDER, POSITIONS].includes(name) ||
  STORE_SERVICES.some((service) => name.startsWith(storeName(service)));

/** A store is never empty: its first page is on disk before anything is kept in it. */
const isEmpty = (file: string): boolean => !existsSync(file) || statSync(file).size === 0;

/**
 * Prepares the folder for this start. Before a first start, the marker is on disk when this returns.
 * @param keyFile key of the seal, in the folder or elsewhere
 * @param neverHad stores that the folder never had, because it is of a version of Keelson without their services
 * @returns "first": a cluster is to be created, or an interrupted first start is to be completed;
 *   "later": all files of a cluster exist
 * @throws Error naming what is missing from a folder that holds other parts of a cluster
 */
export const prepareStart = (
  folder: DataFolder,
  keyFile: string,
  neverHad: readonly StoreService[],
): 'first' | 'later' => {
  const isMarked = existsSync(folder.file(MARKER));
  // `first-run.json` is the last file written before the marker is removed, so the others exist too.
  const isFinished = existsSync(firstRunFile(folder));
  if (isMarked && !isFinished) return 'first';
  const present = readdirSync(folder.path).filter(isOfCluster).sort();
  if (present.length === 0) {
    writeFileDurably(folder.file(MARKER), '');
    return 'first';
  }
  const had = STORE_SERVICES.filter((service) => !neverHad.includes(service));
  const needed = [...had.map((service) => storeFile(folder, service)), keyFile];
  const missing = needed.filter(isEmpty);
  if (missing.length > 0)
    throw new Error(
      `KEELSON_DATA_DIR: missing or empty: ${missing.join(', ')}. The data folder ${folder.path} holds a cluster (${present.join(', ')}), which is not complete without. ${putBack('what is missing')} For a new cluster, choose a folder without these files.`,
    );
  if (isMarked) removeFileDurably(folder.file(MARKER));
  return 'later';
};

/** Called when the facts of the first start are on disk. */
export const finishFirstStart = (folder: DataFolder): void =>
  removeFileDurably(folder.file(MARKER));
