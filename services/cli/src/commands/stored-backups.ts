/** The snapshots that a server stored in the object storage, read with the settings of the server. */
import type { ObjectStorage } from '@keelson/objects';
import { BACKUPS_PREFIX, backupTimeOf } from '@keelson/objects/backup-names';
import { CliFailure } from '../client/failure.ts';
import type { Environment } from './cli.ts';

const SETTINGS = 'KEELSON_OBJECT_STORAGE_';
const LATEST = 'latest';
/** Names in a refusal. */
const MAX_NAMED = 10;

export interface StoredBackup {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Why the chunks ended early; undefined if they did not. */
  readonly whyBroken: () => CliFailure | undefined;
  readonly close: () => Promise<void>;
}

const openStorage = async (environment: Environment): Promise<ObjectStorage> => {
  // Loaded only here: most commands need neither settings of a server nor a client of a storage.
  const { ConfigError, parseConfig } = await import('@keelson/config');
  const { objectStorageSettings, openConfiguredStorage } = await import('@keelson/objects');
  // The other variables are those of this command.
  const own = Object.entries(environment).filter(([name]) => name.startsWith(SETTINGS));
  try {
    const storage = openConfiguredStorage(
      parseConfig(objectStorageSettings, Object.fromEntries(own)),
    );
    if (storage !== undefined) return storage;
  } catch (error) {
    if (error instanceof ConfigError) throw new CliFailure(error.message);
    throw error;
  }
  throw new CliFailure(
    `--object-storage needs the settings of the server that stored the snapshot: ${SETTINGS}ENDPOINT and the others (docs/object-storage.md).`,
  );
};

const namesIn = async (storage: ObjectStorage): Promise<readonly string[]> => {
  const { listAll } = await import('@keelson/objects');
  const names: string[] = [];
  for await (const { key } of listAll(storage, BACKUPS_PREFIX)) {
    const name = key.slice(BACKUPS_PREFIX.length);
    if (backupTimeOf(name) !== undefined) names.push(name);
  }
  return names.sort();
};

const toFailure = (storage: ObjectStorage, error: unknown): CliFailure =>
  error instanceof CliFailure
    ? error
    : new CliFailure(
        `${storage.place}: ${error instanceof Error ? error.message : String(error)}.`,
      );

const findBackup = async (
  storage: ObjectStorage,
  wanted: string,
): Promise<Pick<StoredBackup, 'name' | 'chunks'>> => {
  const names = await namesIn(storage);
  const name = wanted === LATEST ? names.at(-1) : names.find((known) => known === wanted);
  const chunks = name && (await storage.getStream(`${BACKUPS_PREFIX}${name}`));
  if (name !== undefined && chunks) return { name, chunks };
  const newest = names.slice(-MAX_NAMED).reverse();
  throw new CliFailure(
    names.length === 0
      ? `${storage.place}${BACKUPS_PREFIX} has no snapshots.`
      : `There is no snapshot ${wanted} in ${storage.place}${BACKUPS_PREFIX}. The newest: ${newest.join(', ')}.`,
  );
};

/** @param wanted name of a snapshot, with or without the folder that `sys/storage/backups` shows, or "latest" */
export const openStoredBackup = async (
  environment: Environment,
  wanted: string,
): Promise<StoredBackup> => {
  const storage = await openStorage(environment);
  try {
    const { name, chunks } = await findBackup(storage, wanted.replace(BACKUPS_PREFIX, ''));
    let broken: CliFailure | undefined;
    return {
      name,
      chunks: (async function* () {
        try {
          yield* chunks;
        } catch (error) {
          broken = toFailure(storage, error);
          throw broken;
        }
      })(),
      whyBroken: () => broken,
      close: () => storage.close(),
    };
  } catch (error) {
    await storage.close();
    throw toFailure(storage, error);
  }
};
