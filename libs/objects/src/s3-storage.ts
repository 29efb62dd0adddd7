/** Objects in a bucket of S3-compatible storage. */
import { createHash } from 'node:crypto';
import { pause, systemClock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import { requireKey } from './object-key.ts';
import type { ListObjectsOptions, ObjectStorage, StoredObject } from './object-storage.ts';
import { bucketUrl, connectS3, type S3Client, type S3Options, S3Refusal } from './s3-client.ts';
import { elementsOf, escapeXml, textOf } from './s3-xml.ts';

export interface S3StorageOptions extends S3Options {
  /** Prefix of all keys; empty, or ends with a slash. */
  readonly prefix: string;
}

/** Parts of an object of unknown size. S3 accepts 5 MiB and more, and 10,000 parts: 160 GB. */
const PART_BYTES = 16 * 1024 * 1024;
const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 100;
const BINARY = { 'content-type': 'application/octet-stream' };
const XML = { 'content-type': 'application/xml' };
const NEVER = new AbortController().signal;

/** Refusals that a repetition of the request would not change. */
const isFinal = (error: unknown): boolean =>
  error instanceof S3Refusal && error.status < 500 && error.status >= 300 && error.status !== 429;

const reasonOf = (error: unknown): string => {
  if (error instanceof S3Refusal) return `it answers ${error.message}`;
  for (let at = error; at instanceof Error; at = at.cause)
    if ('code' in at && typeof at.code === 'string') return at.code;
  return error instanceof Error ? error.message : String(error);
};

/** An answer of undefined for a key without an object; a bucket that does not exist is a fault. */
const unlessAbsent = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof S3Refusal && error.status === 404 && error.code !== 'NoSuchBucket')
      return undefined;
    throw error;
  }
};

/** Parts of equal size; only the last one may be smaller. */
async function* inParts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.byteLength;
    if (bytes < PART_BYTES) continue;
    const all = Buffer.concat(held);
    let at = 0;
    for (; all.byteLength - at >= PART_BYTES; at += PART_BYTES)
      yield all.subarray(at, at + PART_BYTES);
    held = [all.subarray(at)];
    bytes = all.byteLength - at;
  }
  yield Buffer.concat(held);
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

/** @returns the id of a new upload in parts */
const beginUpload = async (client: S3Client, key: string): Promise<string> => {
  const query = { uploads: '' };
  const { document } = await client.request({ method: 'POST', key, query, headers: BINARY });
  const id = textOf(document, 'UploadId');
  if (id === undefined) throw new Error('an answer without UploadId');
  return id;
};

const completionOf = (etags: readonly string[]): Buffer => {
  const parts = etags.map(
    (etag, index) =>
      `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  );
  return Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
};

const deletionOf = (keys: readonly string[]): Buffer => {
  const objects = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`);
  return Buffer.from(`<Delete><Quiet>true</Quiet>${objects.join('')}</Delete>`);
};

class S3Storage implements ObjectStorage {
  readonly place: string;
  readonly #options: S3StorageOptions;
  readonly #prefix: string;
  #client: Promise<S3Client> | undefined;

  constructor(options: S3StorageOptions) {
    this.place = `${bucketUrl(options)}/${options.prefix}`;
    this.#options = options;
    this.#prefix = options.prefix;
  }

  /** All requests may be repeated: they write or remove the same object again. */
  async #attempt<T>(request: (client: S3Client) => Promise<T>): Promise<T> {
    this.#client ??= connectS3(this.#options);
    const client = await this.#client;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await request(client);
      } catch (cause) {
        if (attempt === ATTEMPTS || isFinal(cause))
          throw new KeelsonError('objects.unavailable', { reason: reasonOf(cause) }, { cause });
        await pause(systemClock, FIRST_PAUSE_MS * 4 ** (attempt - 1), NEVER);
      }
    }
  }

  #key(key: string): string {
    return this.#prefix + requireKey(key);
  }

  async put(key: string, body: Uint8Array): Promise<void> {
    const name = this.#key(key);
    await this.#attempt((client) =>
      client.request({ method: 'PUT', key: name, headers: BINARY, body }),
    );
  }

  async putStream(key: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const name = this.#key(key);
    const uploadId = await this.#attempt((client) => beginUpload(client, name));
    const upload = { key: name, query: { uploadId } };
    try {
      const etags: string[] = [];
      let sizeBytes = 0;
      for await (const body of inParts(chunks)) {
        const query = { uploadId, partNumber: String(etags.length + 1) };
        const { etag } = await this.#attempt((client) =>
          client.request({ method: 'PUT', key: name, query, body }),
        );
        etags.push(etag);
        sizeBytes += body.byteLength;
      }
      const body = completionOf(etags);
      await this.#attempt((client) =>
        client.request({ method: 'POST', ...upload, headers: XML, body }),
      );
      return sizeBytes;
    } catch (error) {
      // Otherwise its parts occupy space until a rule of the bucket removes unfinished uploads.
      await this.#attempt((client) => client.request({ method: 'DELETE', ...upload })).catch(
        () => undefined,
      );
      throw error;
    }
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const name = this.#key(key);
    return this.#attempt(async (client) => {
      const answer = await unlessAbsent(client.open({ method: 'GET', key: name }));
      return answer && new Uint8Array(await answer.arrayBuffer());
    });
  }

  async getStream(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const name = this.#key(key);
    const answer = await this.#attempt((client) =>
      unlessAbsent(client.open({ method: 'GET', key: name })),
    );
    return answer && ((answer.body as AsyncIterable<Uint8Array> | null) ?? noBytes());
  }

  async list(
    prefix: string,
    { after, limit }: ListObjectsOptions,
  ): Promise<readonly StoredObject[]> {
    const query = {
      'list-type': '2',
      prefix: this.#prefix + prefix,
      'max-keys': String(limit),
      ...(after !== undefined && { 'start-after': this.#prefix + after }),
    };
    const { document } = await this.#attempt((client) => client.request({ method: 'GET', query }));
    return elementsOf(document, 'Contents').map((object) => ({
      key: (textOf(object, 'Key') ?? '').slice(this.#prefix.length),
      sizeBytes: Number(textOf(object, 'Size')),
      modifiedAtMs: new Date(textOf(object, 'LastModified') ?? '').getTime(),
    }));
  }

  async delete(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const body = deletionOf(keys.map((key) => this.#key(key)));
    const headers = { ...XML, 'content-md5': createHash('md5').update(body).digest('base64') };
    // The answer lists the objects that were not deleted as errors.
    await this.#attempt((client) =>
      client.request({ method: 'POST', query: { delete: '' }, headers, body }),
    );
  }

  async close(): Promise<void> {
    const client = await this.#client;
    await client?.close();
  }
}

/** No request is sent before the first use. */
export const openS3Storage = (options: S3StorageOptions): ObjectStorage => new S3Storage(options);
