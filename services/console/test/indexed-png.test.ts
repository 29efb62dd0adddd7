/** Pictures with a palette: exact where 256 colors suffice, and nearly so where they do not. */
import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { indexedPng } from './indexed-png.ts';

const picture = (width: number, height: number, colorAt: (at: number) => readonly number[]) => ({
  width,
  height,
  data: Uint8Array.from(
    Array.from({ length: width * height }, (_, at) => [...colorAt(at), 255]).flat(),
  ),
});

test('of up to 256 colors are the same when they are read', () => {
  const pixels = picture(32, 9, (at) => [at % 256, (at * 7) % 256, 255 - (at % 256)]);
  const read = PNG.sync.read(indexedPng(pixels));
  expect([read.width, read.height]).toEqual([32, 9]);
  expect(Uint8Array.from(read.data)).toEqual(pixels.data);
});

test('of more colors keep those of areas, and differ by less than anybody sees in the others', () => {
  // An area of each of two colors, and the shades of letters on them.
  const pixels = picture(400, 9, (at) => {
    if (at < 1600) return [17, 18, 20];
    return at < 3200 ? [250, 249, 251] : [at % 256, (at * 3) % 256, (at >> 8) * 16];
  });
  const { data } = PNG.sync.read(indexedPng(pixels));
  expect(Uint8Array.from(data.subarray(0, 3200 * 4))).toEqual(pixels.data.subarray(0, 3200 * 4));
  const differences = pixels.data.map((value, at) => Math.abs(value - (data[at] ?? 0)));
  expect(Math.max(...differences)).toBeLessThanOrEqual(8);
});
