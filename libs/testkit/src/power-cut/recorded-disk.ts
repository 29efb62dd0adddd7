/**
 * A model of a disk that loses its power. What a process flushed of the files below a folder is copied when
 * it is flushed; after the process was killed, the folder can be put together as a disk may have left it:
 *   of a file each page as it was flushed last, or as it was written since;
 *   of a folder each name as it was when the folder was flushed last, or as it was made, replaced or removed
 *   since. A file that was made and flushed is not there without its folder.
 */
import { hash } from 'node:crypto';
import fs, { type Stats } from 'node:fs';
import { join, relative } from 'node:path';

export interface RecordedDisk {
  /** Everything below it is recorded. */
  readonly folder: string;
  /** Folder of the record, elsewhere. */
  readonly record: string;
}

export interface PowerCut {
  /** Of 256 pages and names that were changed and not flushed, those that the disk had taken. */
  readonly taken: number;
  /** Which ones. */
  readonly seed: number;
}

const PAGE_BYTES = 4096;

/** As it is before a process that is recorded has its own exchanged. */
const { renameSync } = fs;

/** Files and folders by name, of one folder: their numbers in the file system. */
type Names = Readonly<Record<string, number>>;

const contentFile = ({ record }: RecordedDisk, number: number): string =>
  join(record, `content-${number}`);

const namesFile = ({ record }: RecordedDisk, number: number): string =>
  join(record, `names-${number}`);

const namesIn = (folder: string): Names => {
  const names: Record<string, number> = {};
  for (const name of fs.readdirSync(folder)) {
    const found = fs.lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (found !== undefined) names[name] = found.ino;
  }
  return names;
};

/** Whole or not at all: the process may be killed while it records. */
const keep = (file: string, write: (unfinished: string) => void): void => {
  const unfinished = `${file}.new`;
  write(unfinished);
  renameSync(unfinished, file);
};

/** To be called when a flush is done, of a file or folder; those elsewhere are not recorded. */
export const recordFlush = (disk: RecordedDisk, descriptor: number): void => {
  const path = fs.readlinkSync(`/proc/self/fd/${descriptor}`);
  if (relative(disk.folder, path).startsWith('..')) return;
  const found = fs.fstatSync(descriptor);
  if (found.isDirectory())
    keep(namesFile(disk, found.ino), (to) => fs.writeFileSync(to, JSON.stringify(namesIn(path))));
  // By its descriptor: by now it may have another name, or none.
  else
    keep(contentFile(disk, found.ino), (to) => fs.copyFileSync(`/proc/self/fd/${descriptor}`, to));
};

interface Found {
  readonly path: string;
  readonly stats: Stats;
}

/** Everything that is below a folder now, by its number. */
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

/** Leaves in `after` what the disk may hold; to be called when no process changes the folder any more. */
export const cutPower = (disk: RecordedDisk, after: string, cut: PowerCut): void => {
  const isTaken = (what: string): boolean =>
    (hash('sha256', `${cut.seed} ${what}`, 'buffer')[0] ?? 0) < cut.taken;
  const all = findAll(disk.folder);

  const leaveFile = (number: number, path: string, target: string): void => {
    const flushed = readIfThere(contentFile(disk, number));
    const now = all.get(number);
    const written = now === undefined ? flushed : fs.readFileSync(now.path);
    const left = Buffer.alloc((isTaken(`size of ${path}`) ? written : flushed).length);
    for (let at = 0; at < left.length; at += PAGE_BYTES) {
      const from = isTaken(`${path} at ${at}`) ? written : flushed;
      left.set(from.subarray(at, Math.min(at + PAGE_BYTES, left.length)), at);
    }
    fs.writeFileSync(target, left, { mode: 0o600 });
  };

  const leaveFolder = (number: number, from: string | undefined, target: string): void => {
    fs.mkdirSync(target, { recursive: true });
    const flushed = JSON.parse(readIfThere(namesFile(disk, number)).toString() || '{}') as Names;
    const now = from === undefined ? flushed : namesIn(from);
    for (const name of new Set([...Object.keys(flushed), ...Object.keys(now)])) {
      const path = join(relative(disk.folder, from ?? ''), name);
      const left = (isTaken(`name ${path}`) ? now : flushed)[name];
      if (left === undefined) continue;
      const found = all.get(left);
      if (found?.stats.isDirectory() === true) leaveFolder(left, found.path, join(target, name));
      else leaveFile(left, path, join(target, name));
    }
  };
  leaveFolder(fs.statSync(disk.folder).ino, disk.folder, after);
};
