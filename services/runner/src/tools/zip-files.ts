/** Zip files of releases: verifies the checksum, and extracts the program. */

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, copyFile, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { guarded } from '@keelson/errors';
import { type Entry, open, type ZipFile } from 'yauzl';
import type { ToolRelease } from './tool-releases.ts';

/** More than any release; a file that unpacks to more is damaged or something else. */
const MAX_PROGRAM_BYTES = 1024 * 1024 * 1024;

const digestOf = async (file: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
};

/** @throws Error naming the checksum file when it does not list the zip file */
const readSum = async ({ name, version, file }: ToolRelease): Promise<string> => {
  const sums = join(dirname(file), `${name}_${version}_SHA256SUMS`);
  const text = await readFile(sums, 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error(`${file} is not used, because ${sums} cannot be read.`);
  for (const line of text.split('\n')) {
    const [sum = '', listed = ''] = line.trim().split(/\s+\*?/, 2);
    if (listed === basename(file)) return sum.toLowerCase();
  }
  throw new Error(`${file} is not used, because ${sums} does not list it.`);
};

const openZip = (file: string): Promise<ZipFile> =>
  new Promise((resolve, reject) => {
    open(file, { lazyEntries: true, autoClose: false }, (error, zip) =>
      error === null ? resolve(zip) : reject(error),
    );
  });

const findEntry = (zip: ZipFile, name: string): Promise<Entry | undefined> =>
  new Promise((resolve, reject) => {
    zip.on(
      'entry',
      guarded('runner/tools', (entry: Entry) => {
        if (entry.fileName === name) resolve(entry);
        else zip.readEntry();
      }),
    );
    zip.on('end', () => resolve(undefined));
    zip.on('error', reject);
    zip.readEntry();
  });

const openEntry = (zip: ZipFile, entry: Entry): Promise<NodeJS.ReadableStream> =>
  new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) =>
      error === null ? resolve(stream) : reject(error),
    );
  });

const extract = async (archive: string, name: string, target: string): Promise<boolean> => {
  const zip = await openZip(archive);
  try {
    const entry = await findEntry(zip, name);
    if (entry === undefined || entry.uncompressedSize > MAX_PROGRAM_BYTES) return false;
    // yauzl fails when there is more data than the entry states.
    await pipeline(await openEntry(zip, entry), createWriteStream(target));
    // The users of runs execute it, whatever the umask of this process is.
    await chmod(target, 0o755);
    return true;
  } finally {
    zip.close();
  }
};

/**
 * Extracts the program of a release from its zip file. The file is copied first, so that the
 * checked content is the content unpacked.
 * @param folder of the phase, which its run cannot write to
 * @returns the program
 * @throws Error naming the file when its checksum is wrong
 */
export const unpackRelease = async (release: ToolRelease, folder: string): Promise<string> => {
  const expected = await readSum(release);
  const archive = join(folder, 'tool.zip');
  await copyFile(release.file, archive);
  if ((await digestOf(archive)) !== expected) {
    throw new Error(
      `${release.file} is not used, because its SHA-256 sum is not the one in ${release.name}_${release.version}_SHA256SUMS.`,
    );
  }
  const program = join(folder, release.name);
  if (!(await extract(archive, release.name, program))) {
    throw new Error(`${release.file} is not used, because it has no program ${release.name}.`);
  }
  await rm(archive);
  return program;
};
