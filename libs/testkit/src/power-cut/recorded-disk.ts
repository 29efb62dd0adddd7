/**
 * Simulates a disk that loses power. A process that runs with `recordedEnvironment` has its flushes below a
 * folder recorded (recorded-disk.c): the content of files and the names in folders, both by inode. After the
 * process was killed, `cutPower` reconstructs the folder as a disk may have left it. Each page of a file is
 * as it was last flushed, or as it was written since. Each name in a folder is as it was when the folder was
 * last flushed, or as it was created, replaced or removed since. A flushed file may be missing if its folder
 * was not flushed.
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
  /** Everything below this folder is recorded. */
  readonly folder: string;
  /**
   * Folder of the record, outside `folder`. While it contains a file `fail`, flushes fail with EIO; if that
   * file has content, only for files whose paths end with it. While it contains a file `full`, writes fail
   * with ENOSPC. While it contains a FIFO `hold`, a flush waits until another process has opened the FIFO for
   * writing and closed it.
   */
  readonly record: string;
}

export interface RecordedEnd {
  /**
   * Number of the step at which the process is killed by SIGKILL; never if absent. Steps are the moments
   * before a write, and before and after a flush, rename, link or removal below the folder. A process can
   * also set the number later, by writing it to a file `steps` of the record.
   */
  readonly steps?: number | undefined;
  /** Name of the only file whose steps count; all files if absent. */
  readonly counted?: string | undefined;
}

export interface PowerCut {
  /** How many in 256 of the changed, unflushed pages and names are on the disk. */
  readonly taken: number;
  /** Seed of the random choice of these pages and names. */
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

/** The environment of this process, extended so that a child's flushes below `disk.folder` are recorded. */
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

/** All current files and folders below the folder, by inode. */
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

/**
 * Writes to `after` what the disk may contain after a power cut. No process may change the folder meanwhile.
 */
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
