/**
 * The newest commit of each store, in a small file of the data folder. A store that ends before it has lost
 * commits, because the file names only commits that were on disk when it was written; a file that is itself
 * older, as after a crash, only notices less.
 */
import { existsSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { type Clock, pause } from '@keelson/clock';
import type { Logger } from '@keelson/logging';
import type { DataFolder } from './data-folder.ts';
import { type DataFiles, POSITIONS, STORE_SERVICES, type StoreService } from './first-start.ts';
import type { Stores } from './stores.ts';

export type Positions = Partial<Readonly<Record<StoreService, number>>>;

const EVERY_MS = 1000;

export const positionsFile = (folder: DataFiles): string => folder.file(POSITIONS);

/** Whether folders of earlier versions of Keelson have no store of the service. */
const isLater = (service: StoreService): boolean => service === 'auth';

/** Empty for a folder that has no such file yet. @throws Error when it is not one of Keelson */
export const loadPositions = (folder: DataFiles): Positions => {
  const file = positionsFile(folder);
  if (!existsSync(file)) return {};
  const content = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    STORE_SERVICES.filter((service) => content[service] !== undefined || !isLater(service)).map(
      (service) => {
        const position = content[service];
        if (!Number.isSafeInteger(position)) throw new Error(`it names no commit of ${service}`);
        return [service, position];
      },
    ),
  );
};

/**
 * The stores that a folder never had: a version of Keelson that knew their services would have recorded a commit of
 * each.
 */
export const storesNeverHad = (folder: DataFiles): readonly StoreService[] => {
  if (!existsSync(positionsFile(folder))) return [];
  let positions: Positions;
  try {
    positions = loadPositions(folder);
  } catch {
    // The examination of the folder names the file.
    return [];
  }
  return STORE_SERVICES.filter((service) => positions[service] === undefined);
};

export interface PositionRecorder {
  /** Records the last positions; called before the stores are closed. */
  stop(): Promise<void>;
}

export interface RecordedStores {
  readonly stores: Stores;
  readonly folder: DataFolder;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Records the positions now, and once a second while they change. */
export const recordPositions = async (recorded: RecordedStores): Promise<PositionRecorder> => {
  const { folder, clock, logger } = recorded;
  const abort = new AbortController();
  let last: Positions = {};
  let written = '';
  let isFailing = false;
  const record = async (): Promise<void> => {
    last = await positionsOf(recorded.stores, last);
    const text = `${JSON.stringify(last)}\n`;
    if (text === written) return;
    try {
      await replaceFile(positionsFile(folder), text);
      written = text;
      isFailing = false;
    } catch (err) {
      if (!isFailing) logger.warn({ err }, 'the positions of the stores cannot be recorded');
      isFailing = true;
    }
  };
  const keepRecording = async (): Promise<void> => {
    while (!abort.signal.aborted) {
      await pause(clock, EVERY_MS, abort.signal);
      await record();
    }
  };
  await record();
  const ended = keepRecording();
  return {
    stop: async () => {
      abort.abort();
      await ended;
    },
  };
};

/** A store that does not answer keeps its last position. */
const positionsOf = async (stores: Stores, last: Positions): Promise<Positions> => {
  const positions = STORE_SERVICES.map(async (service) => {
    const newest = stores[service].store.wal.headSequence();
    return [service, await newest.catch(() => last[service] ?? 0)] as const;
  });
  return Object.fromEntries(await Promise.all(positions));
};

/** After a power cut the file has the former or the new content, either of which is true. */
const replaceFile = async (file: string, text: string): Promise<void> => {
  const unfinished = `${file}.new`;
  await writeFile(unfinished, text, { mode: 0o600, flush: true });
  await rename(unfinished, file);
};
