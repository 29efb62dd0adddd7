/**
 * The snapshot file: a gzipped tar archive, as clients of `sys/storage/raft/snapshot` expect.
 *
 *   meta.json          format, version, cluster, time, and the newest commit of each service
 *   <service>/<n>      pages of records as stored, encrypted by the barrier
 *   SHA256SUMS         one line per earlier entry: its digest and name
 *   SHA256SUMS.sealed  the same, encrypted by the barrier of sys; the last entry, so a truncated file lacks it
 */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { KeelsonError } from '@keelson/errors';
import { extract, pack } from 'tar-stream';

export const META = 'meta.json';
export const SUMS = 'SHA256SUMS';
export const SEALED_SUMS = 'SHA256SUMS.sealed';

/** Larger than any page: one record has at most 4 MiB. */
const MAX_ENTRY_BYTES = 16 * 1024 * 1024;
/** The lowest level: encrypted records hardly compress. */
const COMPRESSION = 1;

export interface ArchiveEntry {
  readonly name: string;
  readonly content: Uint8Array;
}

export const sha256 = (content: Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');

/** A line in the format of `sha256sum`. */
export const sumLine = ({ name, content }: ArchiveEntry): string => `${sha256(content)}  ${name}\n`;

/** The bytes of an archive, produced while they are read. */
export async function* writeArchive(
  entries: AsyncIterable<ArchiveEntry>,
  mtime: Date,
): AsyncGenerator<Uint8Array> {
  const tar = pack();
  const zipped = pipeline(tar, createGzip({ level: COMPRESSION }), () => undefined);
  const writing = (async () => {
    for await (const { name, content } of entries) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const header = { name, size: content.byteLength, mode: 0o600, mtime };
      const sink = tar.entry(header, (error) => (error ? reject(error) : resolve()));
      sink.end(content);
      await promise;
    }
    tar.finalize();
  })();
  writing.catch((error: unknown) => zipped.destroy(error as Error));
  try {
    yield* zipped as AsyncIterable<Uint8Array>;
    await writing;
  } finally {
    tar.destroy();
  }
}

const damaged = (reason: string, cause?: unknown): KeelsonError =>
  new KeelsonError('sys.snapshot_damaged', { reason }, { cause });

/** Refuses a file that zlib or the tar reader cannot read: it has another format, or is truncated. */
const toRefusal = (error: unknown, isBegun: boolean): unknown => {
  if (error instanceof KeelsonError || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'Z_BUF_ERROR' || /unexpected end|premature close/i.test(error.message))
    return damaged('it ends early', error);
  if (!code.startsWith('Z_') && !/tar|header/i.test(error.message)) return error;
  return isBegun
    ? damaged(error.message, error)
    : new KeelsonError(
        'sys.snapshot_foreign',
        { reason: 'it is not a gzipped tar archive' },
        { cause: error },
      );
};

/**
 * The entries of an archive, in their order.
 * @throws KeelsonError `sys.snapshot_foreign`, `sys.snapshot_damaged`
 */
export async function* readArchive(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ArchiveEntry> {
  const tar = extract();
  let failure: unknown;
  let isBegun = false;
  let isRead = false;
  const source = async function* () {
    yield* chunks;
    isRead = true;
  };
  pipeline(source, createGunzip(), tar, (error) => {
    failure = error ?? undefined;
  });
  try {
    for await (const entry of tar) {
      const { name, size } = entry.header;
      if (size > MAX_ENTRY_BYTES) throw damaged(`${name} has ${size} bytes`);
      const parts: Uint8Array[] = [];
      for await (const part of entry) parts.push(part as Uint8Array);
      isBegun = true;
      yield { name, content: Buffer.concat(parts) };
    }
  } catch (error) {
    throw toRefusal(failure ?? error, isBegun);
  } finally {
    tar.destroy();
  }
  if (failure !== undefined) throw toRefusal(failure, isBegun);
  // Zlib ignores what follows the end, so the caller would not learn how the file ends.
  if (!isRead) throw damaged('bytes follow its end');
  if (!isBegun) throw new KeelsonError('sys.snapshot_foreign', { reason: 'it is empty' });
}
