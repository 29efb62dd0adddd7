/** Objects in a bucket of S3-compatible storage. */
import { pause, systemClock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { S3mini, S3ServiceError, UploadPart } from 's3mini';
import type { Agent } from 'undici';
import { requireKey } from './object-key.ts';
import type { ObjectStorage, StoredObject } from './object-storage.ts';

export interface S3StorageOptions {
  /** Such as https://s3.eu-central-1.amazonaws.com or http://127.0.0.1:9000. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Prefix of all keys; empty, or ends with a slash. */
  readonly prefix: string;
  /** Whether the bucket is part of the path of an address; otherwise it is part of the host name. */
  readonly pathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Limits the connection, the time to the head of an answer, and each pause in a body. */
  readonly timeoutMs: number;
}

/** Parts of an object of unknown size. S3 accepts 5 MiB and more, and 10,000 parts: 160 GB. */
const PART_BYTES = 16 * 1024 * 1024;
const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 100;
const BINARY = 'application/octet-stream';
const NEVER = new AbortController().signal;

const bucketUrl = ({ endpoint, bucket, pathStyle }: S3StorageOptions): string => {
  const url = new URL(endpoint);
  if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
  return `${url.href.replace(/\/$/, '')}${pathStyle ? `/${bucket}` : ''}`;
};

const isServiceError = (error: unknown): error is S3ServiceError =>
  error instanceof Error && 'serviceCode' in error;

/** Refusals that a repetition of the request would not change. */
const isFinal = (error: unknown): boolean =>
  isServiceError(error) && error.status < 500 && error.status !== 429;

const reasonOf = (error: unknown): string => {
  if (isServiceError(error)) return `it answers ${error.status} ${error.serviceCode ?? ''}`.trim();
  for (let at = error; at instanceof Error; at = at.cause)
    if ('code' in at && typeof at.code === 'string') return at.code;
  return error instanceof Error ? error.message : String(error);
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

interface Connection {
  readonly client: S3mini;
  readonly agent: Agent;
}

/** Loads the client only where a storage is used: it takes 10 MB of memory. */
const connect = async (options: S3StorageOptions): Promise<Connection> => {
  const { region, accessKeyId, secretAccessKey, timeoutMs } = options;
  const [{ S3mini }, { Agent, fetch }] = await Promise.all([import('s3mini'), import('undici')]);
  const agent = new Agent({
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const dispatched = (input: string, init: object) =>
    fetch(input, { ...init, redirect: 'error', dispatcher: agent });
  const client = new S3mini({
    endpoint: bucketUrl(options),
    region,
    accessKeyId,
    secretAccessKey,
    fetch: dispatched as unknown as typeof globalThis.fetch,
  });
  return { client, agent };
};

class S3Storage implements ObjectStorage {
  readonly place: string;
  readonly #options: S3StorageOptions;
  readonly #prefix: string;
  #connection: Promise<Connection> | undefined;

  constructor(options: S3StorageOptions) {
    this.place = `${bucketUrl(options)}/${options.prefix}`;
    this.#options = options;
    this.#prefix = options.prefix;
  }

  /** All requests may be repeated: they write or remove the same object again. */
  async #attempt<T>(request: (client: S3mini) => Promise<T>): Promise<T> {
    this.#connection ??= connect(this.#options);
    const { client } = await this.#connection;
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

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const name = this.#key(key);
    await this.#attempt((client) => client.putObject(name, bytes, BINARY));
  }

  async putStream(key: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const name = this.#key(key);
    const upload = await this.#attempt((client) => client.getMultipartUploadId(name, BINARY));
    try {
      const parts: UploadPart[] = [];
      let sizeBytes = 0;
      for await (const part of inParts(chunks)) {
        const number = parts.length + 1;
        parts.push(await this.#attempt((client) => client.uploadPart(name, upload, part, number)));
        sizeBytes += part.byteLength;
      }
      await this.#attempt((client) => client.completeMultipartUpload(name, upload, parts));
      return sizeBytes;
    } catch (error) {
      // Otherwise its parts occupy space until a rule of the bucket removes unfinished uploads.
      await this.#attempt((client) => client.abortMultipartUpload(name, upload)).catch(
        () => undefined,
      );
      throw error;
    }
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const name = this.#key(key);
    const found = await this.#attempt((client) => client.getObjectArrayBuffer(name));
    return found === null ? undefined : new Uint8Array(found);
  }

  async getStream(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const name = this.#key(key);
    const response = await this.#attempt((client) => client.getObjectResponse(name));
    return (response?.body as AsyncIterable<Uint8Array> | null | undefined) ?? undefined;
  }

  async list(
    prefix: string,
    { after, limit }: { readonly after?: string; readonly limit: number },
  ): Promise<readonly StoredObject[]> {
    const options = after === undefined ? {} : { 'start-after': this.#prefix + after };
    const page = await this.#attempt(async (client) => {
      const found = await client.listObjectsPaged(
        '/',
        this.#prefix + prefix,
        limit,
        undefined,
        options,
      );
      if (!found) {
        const { S3ServiceError } = await import('s3mini');
        throw new S3ServiceError('there is no such bucket', 404, 'NoSuchBucket');
      }
      return found;
    });
    return (page.objects ?? []).map(({ Key, Size, LastModified }) => ({
      key: Key.slice(this.#prefix.length),
      sizeBytes: Number(Size),
      modifiedAtMs: new Date(LastModified).getTime(),
    }));
  }

  async delete(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const names = keys.map((key) => this.#key(key));
    await this.#attempt(async (client) => {
      const deleted = await client.deleteObjects(names);
      if (deleted.includes(false)) throw new Error('some objects were not deleted');
    });
  }

  async close(): Promise<void> {
    const connection = await this.#connection;
    await connection?.agent.destroy();
  }
}

/** No request is sent before the first use. */
export const openS3Storage = (options: S3StorageOptions): ObjectStorage => new S3Storage(options);
