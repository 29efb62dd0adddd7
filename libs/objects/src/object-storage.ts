/**
 * The port for large bodies that lie outside of the databases: named objects in a folder or in S3-compatible
 * storage. An object is written as a whole and never changed: readers see all of it or nothing.
 */

export interface StoredObject {
  readonly key: string;
  readonly sizeBytes: number;
  /** By the clock of the storage. */
  readonly modifiedAtMs: number;
}

export interface ListObjectsOptions {
  /** Only keys after this one, which need not exist. */
  readonly after?: string;
  /** At most 1,000. */
  readonly limit: number;
}

/**
 * Keys consist of letters, digits and `._-`, separated by slashes. All methods throw KeelsonError
 * `objects.unavailable` when the storage cannot be used, after a bounded number of attempts.
 */
export interface ObjectStorage {
  /** Where the objects are, for operators; without credentials. */
  readonly place: string;
  /** Resolves when the object is stored durably. Replaces an object with the same key. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * Stores an object of any size while its bytes arrive; nothing is visible before the last one.
   * @returns its size in bytes
   */
  putStream(key: string, chunks: AsyncIterable<Uint8Array>): Promise<number>;
  /** The whole object, which must fit into memory; undefined if there is none. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** The bytes of an object of any size as they arrive; undefined if there is none. */
  getStream(key: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Objects whose keys begin with `prefix`, in the byte order of their keys. */
  list(prefix: string, options: ListObjectsOptions): Promise<readonly StoredObject[]>;
  /** Removes at most 1,000 objects; keys without an object are ignored. */
  delete(keys: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Maximum number of objects in one list or deletion. */
export const MAX_LISTED = 1000;

/** All objects whose keys begin with `prefix`, in pages. */
export async function* listAll(
  storage: Pick<ObjectStorage, 'list'>,
  prefix: string,
): AsyncGenerator<StoredObject, void, void> {
  for (let after: string | undefined; ; ) {
    const page = await storage.list(prefix, {
      limit: MAX_LISTED,
      ...(after !== undefined && { after }),
    });
    yield* page;
    after = page.at(-1)?.key;
    if (page.length < MAX_LISTED || after === undefined) return;
  }
}
