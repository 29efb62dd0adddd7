/** What a disk may hold after the power went, of the files of a store whose writer copied what it flushed. */
import { hash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

/** Of the copy of a file as it was flushed last. */
export const FLUSHED_SUFFIX = '.flushed';

const FILES = ['', '-wal', '-redo'];
const PAGE_BYTES = 4096;

export interface PowerCut {
  /** Of 256 pages that were written and not flushed, those that the disk had taken. */
  readonly taken: number;
  /** Which ones. */
  readonly seed: number;
}

const read = (file: string): Promise<Buffer> => readFile(file).catch(() => Buffer.alloc(0));

/** Leaves the files `after` instead of those of `file`: each page as flushed, or as written since. */
export const cutPower = async (file: string, after: string, cut: PowerCut): Promise<void> => {
  for (const suffix of FILES) {
    const isTaken = (page: number | 'size'): boolean =>
      (hash('sha256', `${cut.seed} ${suffix} ${page}`, 'buffer')[0] ?? 0) < cut.taken;
    const written = await read(`${file}${suffix}`);
    const flushed = await read(`${file}${suffix}${FLUSHED_SUFFIX}`);
    const left = Buffer.alloc((isTaken('size') ? written : flushed).length);
    for (let at = 0; at < left.length; at += PAGE_BYTES)
      left.set(
        (isTaken(at / PAGE_BYTES) ? written : flushed).subarray(
          at,
          Math.min(at + PAGE_BYTES, left.length),
        ),
        at,
      );
    await writeFile(`${after}${suffix}`, left);
  }
};
