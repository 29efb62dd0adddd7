/**
 * A disk that can lose its power. A process that is run with `recordedEnvironment` has what it flushes
 * below a folder recorded (recorded-disk.c): of a file its content, of a folder its names, both by inode.
 * After the process was killed, `cutPower` puts the folder together as a disk may have left it:
 *   each page of a file as it was flushed last, or as it was written since;
 *   each name in a folder as it was when the folder was flushed last, or as it was made, replaced or
 *   removed since. A file that was flushed is not there without its folder.
 */
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import fs, { type Stats } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SOURCE = join(import.meta.dirname, 'recorded-disk.c');
const BUILT_FOLDER = join(import.meta.dirname, '../../../../node_modules/.cache/recorded-disk');

export interface RecordedDisk {
  /** Everything below it is recorded. */
  readonly folder: string;
  /**
   * Folder of the record, elsewhere. While it has a file `fail`, flushes fail with EIO, of
   * the files whose paths end with its content if it has any; while it has a file
   * `full`, writes fail with ENOSPC; while it has a FIFO `hold`, a flush waits until somebody has opened
   * the FIFO for writing and closed it.
   */
  readonly record: string;
}

export interface RecordedEnd {
  /**
   * Number of the step at which the process ends by SIGKILL; never if absent. Steps are the moments before
   * a write, and before and after a flush, a rename, a link and a removal below the folder. A process may
   * also arm itself later, by writing the number to a file `steps` of the record.
   */
  readonly steps?: number | undefined;
  /** Name of the only file whose steps count; all if absent. */
  readonly counted?: string | undefined;
}

export interface PowerCut {
  /** How many of 256 pages and names that were changed and not flushed the disk has taken. */
  readonly taken: number;
  /** Decides which of them. */
  readonly seed: number;
}

const PAGE_BYTES = 4096;

/** Builds the library once for each of its versions. Needs a C compiler. */
const buildLibrary = async (): Promise<string> => {
  const version = hash('sha256', await readFile(SOURCE)).slice(0, 16);
  const library = join(BUILT_FOLDER, `${version}.so`);
  if (fs.existsSync(library)) return library;
  await mkdir(BUILT_FOLDER, { recursive: true });
  const unfinished = join(await mkdtemp(join(BUILT_FOLDER, 'build-')), 'library.so');
  await run('cc', ['-O2', '-shared', '-fPIC', '-o', unfinished, SOURCE, '-ldl']);
  await rename(unfinished, library);
  return library;
};

/** The environment of this process, extended for one whose flushes below `disk.folder` are recorded. */
export const recordedEnvironment = async (
  { folder, record }: RecordedDisk,
  { steps, counted }: RecordedEnd = {},
): Promise<Readonly<Record<string, string>>> => ({
  ...(process.env as Record<string, string>),
  LD_PRELOAD: await buildLibrary(),
  RECORDED_DISK_FOLDER: folder,
  RECORDED_DISK_RECORD: record,
  RECORDED_DISK_STEPS: String(steps ?? ''),
  RECORDED_DISK_COUNTED: counted ?? '',
});

/** Inodes of the files and folders in one folder, by name. */
type Names = ReadonlyMap<string, number>;

const contentFile = ({ record }: RecordedDisk, inode: number): string =>
  join(record, `content-${inode}`);

const readFlushedNames = ({ record }: RecordedDisk, inode: number): Names => {
  const lines = readIfThere(join(record, `names-${inode}`))
    .toString()
    .split('\n')
    .slice(0, -1);
  return new Map(
    lines.map((line) => {
      const space = line.indexOf(' ');
      return [line.slice(space + 1), Number(line.slice(0, space))];
    }),
  );
};

const namesIn = (folder: string): Names =>
  new Map(fs.readdirSync(folder).map((name) => [name, fs.lstatSync(join(folder, name)).ino]));

interface Found {
  readonly path: string;
  readonly stats: Stats;
}

/** Everything that is below a folder now, by inode. */
const findAll = (folder: string): ReadonlyMap<number, Found> => {
  const found = new Map<number, Found>();
  for (const name of fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    const stats = fs.lstatSync(path);
    found.set(stats.ino, { path, stats });
  }
  return found;
};

const readIfThere = (file: string): Buffer =>
  fs.existsSync(file) ? fs.readFileSync(file) : Buffer.alloc(0);

/** Leaves in `after` what the disk may hold. To be called when no process changes the folder any more. */
export const cutPower = (disk: RecordedDisk, after: string, cut: PowerCut): void => {
  const isTaken = (what: string): boolean =>
    (hash('sha256', `${cut.seed} ${what}`, 'buffer')[0] ?? 0) < cut.taken;
  const all = findAll(disk.folder);

  const leaveFile = (inode: number, path: string, target: string): void => {
    const flushed = readIfThere(contentFile(disk, inode));
    const now = all.get(inode);
    const written = now === undefined ? flushed : fs.readFileSync(now.path);
    const left = Buffer.alloc((isTaken(`size of ${path}`) ? written : flushed).length);
    for (let at = 0; at < left.length; at += PAGE_BYTES) {
      const from = isTaken(`${path} at ${at}`) ? written : flushed;
      left.set(from.subarray(at, Math.min(at + PAGE_BYTES, left.length)), at);
    }
    fs.writeFileSync(target, left, { mode: 0o600 });
  };

  const leaveFolder = (inode: number, from: string | undefined, target: string): void => {
    fs.mkdirSync(target, { recursive: true });
    const flushed = readFlushedNames(disk, inode);
    const now = from === undefined ? flushed : namesIn(from);
    for (const name of new Set([...flushed.keys(), ...now.keys()])) {
      const path = join(relative(disk.folder, from ?? ''), name);
      const left = (isTaken(`name ${path}`) ? now : flushed).get(name);
      if (left === undefined) continue;
      const found = all.get(left);
      if (found?.stats.isDirectory() === true) leaveFolder(left, found.path, join(target, name));
      else leaveFile(left, path, join(target, name));
    }
  };
  leaveFolder(fs.statSync(disk.folder).ino, disk.folder, after);
};
