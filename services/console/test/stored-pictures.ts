/**
 * How something looks, compared with the pictures that are stored with the tests. `vitest -u` stores them again after a
 * change that is wanted; look at them first.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { expect } from 'vitest';
import { indexedPng } from './indexed-png.ts';
import { PICTURES } from './page-faults.ts';

const STORED = join(import.meta.dirname, 'pictures');
/** Part of the pixels that may differ, as edges of letters do between versions of Chromium. */
const ALLOWED_PART = 0.0001;
/** Difference of two colors that count as the same, as pixelmatch measures it. */
const THRESHOLD = 0.1;

const isUpdate = (): boolean => expect.getState().snapshotState['_updateSnapshot'] === 'all';

/** The names of the stored pictures that begin so, without the ending of their files. */
export const storedPictures = async (prefix: string): Promise<readonly string[]> =>
  (await readdir(STORED))
    .filter((file) => file.startsWith(prefix))
    .map((file) => file.replace(/\.png$/, ''));

/**
 * Compares a picture with the stored one. One that differs is left in `test-pictures/`, with the places in red.
 * @param taken a PNG file
 * @returns what differs; undefined if nothing does
 */
export const differenceOf = async (name: string, taken: Buffer): Promise<string | undefined> => {
  const now = PNG.sync.read(taken);
  const file = join(STORED, `${name}.png`);
  if (isUpdate()) {
    await writeFile(file, indexedPng(now));
    return undefined;
  }
  const found = await readFile(file).catch(() => undefined);
  if (found === undefined) return 'there is no such picture';
  const stored = PNG.sync.read(found);
  const { width, height } = now;
  const isOfSize = width === stored.width && height === stored.height;
  const drawn = new PNG({ width, height });
  const different = isOfSize
    ? pixelmatch(now.data, stored.data, drawn.data, width, height, { threshold: THRESHOLD })
    : width * height;
  if (different / (width * height) <= ALLOWED_PART) return undefined;
  await mkdir(PICTURES, { recursive: true });
  await writeFile(join(PICTURES, `${name}.png`), taken);
  if (!isOfSize)
    return `${width} × ${height} pixels in place of ${stored.width} × ${stored.height}`;
  await writeFile(join(PICTURES, `${name}-difference.png`), PNG.sync.write(drawn));
  return `${different} pixels differ`;
};
