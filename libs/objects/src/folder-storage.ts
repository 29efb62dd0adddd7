/** Objects as files in a folder, such as a mounted network drive. */
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { KeelsonError } from '@keelson/errors';
import { syncFolder } from '@keelson/runtime';
import { requireKey } from './object-key.ts';
import type { ListObjectsOptions, ObjectStorage, StoredObject } from './object-storage.ts';

/** Suffix of files that are being written. */
const UNFINISHED = '.part';
const MISSING = new Set<unknown>(['ENOENT', 'ENOTDIR']);

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** Calls the file system; a failure names its cause. */
const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof KeelsonError || codeOf(cause) === undefined) throw cause;
    throw new KeelsonError('objects.unavailable', { reason: String(codeOf(cause)) }, { cause });
  }
};

const unlessMissing = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await work();
  } catch (error) {
    if (MISSING.has(codeOf(error))) return undefined;
    throw error;
  }
};

class FolderStorage implements ObjectStorage {
  readonly place: string;

  constructor(folder: string) {
    this.place = resolve(folder);
  }

  #file(key: string): string {
    return join(this.place, requireKey(key));
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.putStream(key, [bytes] as unknown as AsyncIterable<Uint8Array>);
  }

  putStream(key: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const file = this.#file(key);
    return attempt(async () => {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      // Flushed under another name first, so that a file with the final name is complete after a power failure.
      const unfinished = `${file}${UNFINISHED}`;
      const handle = await open(unfinished, 'w', 0o600);
      let sizeBytes = 0;
      try {
        for await (const chunk of chunks) {
          await handle.writeFile(chunk);
          sizeBytes += chunk.byteLength;
        }
        await handle.sync();
        await handle.close();
        await rename(unfinished, file);
      } catch (error) {
        await handle.close().catch(() => undefined);
        await rm(unfinished, { force: true });
        throw error;
      }
      syncFolder(dirname(file));
      return sizeBytes;
    });
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    return attempt(() => unlessMissing(() => readFile(this.#file(key))));
  }

  async getStream(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const file = this.#file(key);
    const found = await attempt(() => unlessMissing(() => stat(file)));
    return found?.isFile() === true ? createReadStream(file) : undefined;
  }

  list(
    prefix: string,
    { after = '', limit }: ListObjectsOptions,
  ): Promise<readonly StoredObject[]> {
    return attempt(async () => {
      const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
      const entries =
        (await unlessMissing(() =>
          readdir(join(this.place, folder), { recursive: true, withFileTypes: true }),
        )) ?? [];
      const keys = entries
        .filter((entry) => entry.isFile() && !entry.name.endsWith(UNFINISHED))
        .map((entry) => join(entry.parentPath, entry.name).slice(this.place.length + 1))
        .filter((key) => key.startsWith(prefix) && key > after)
        .sort();
      const found: StoredObject[] = [];
      for (const key of keys.slice(0, limit)) {
        const { size, mtimeMs } = await stat(join(this.place, key));
        found.push({ key, sizeBytes: size, modifiedAtMs: mtimeMs });
      }
      return found;
    });
  }

  delete(keys: readonly string[]): Promise<void> {
    return attempt(async () => {
      for (const key of keys) {
        const file = this.#file(key);
        const wasThere = await unlessMissing(() => rm(file).then(() => true));
        if (wasThere === true) syncFolder(dirname(file));
      }
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** The first object creates the folder. */
export const openFolderStorage = (folder: string): ObjectStorage => new FolderStorage(folder);
