/** Small pictures: PNG files with a palette. */
import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MOST_COLORS = 256;
/** Colors of the palette that are those of the most pixels, such as of all areas. */
const FREQUENT_COLORS = 128;
/** The sample depth and the color type of a palette (PNG, 11.2.1); compression, filter and interlace are the only or the plain ones. */
const HEADER_END = [8, 3, 0, 0, 0];

/** Pixels with four bytes each, the last of which is ignored. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

const chunk = (type: string, content: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
};

const channelsOf = (color: number): readonly [number, number, number] => [
  color >> 16,
  (color >> 8) & 255,
  color & 255,
];

const distance = (one: number, other: number): number => {
  const [red, green, blue] = channelsOf(one);
  const [otherRed, otherGreen, otherBlue] = channelsOf(other);
  return (red - otherRed) ** 2 + (green - otherGreen) ** 2 + (blue - otherBlue) ** 2;
};

interface Palette {
  readonly colors: readonly number[];
  /** The place in the palette of each color of the picture, or of the color nearest to it. */
  readonly places: ReadonlyMap<number, number>;
}

/** All colors if they fit, or else the most frequent ones, and of the others those least like any of the palette. */
const paletteOf = (pixels: Uint32Array): Palette => {
  const counts = new Map<number, number>();
  let begin = 0;
  // Most pixels have the color of the one before.
  for (let at = 1; at <= pixels.length; at += 1) {
    const color = pixels[begin] ?? 0;
    if (pixels[at] === color) continue;
    counts.set(color, (counts.get(color) ?? 0) + at - begin);
    begin = at;
  }
  const byCount = [...counts].toSorted(([, one], [, other]) => other - one).map(([color]) => color);
  const isFew = byCount.length <= MOST_COLORS;
  const colors = byCount.slice(0, isFew ? MOST_COLORS : FREQUENT_COLORS);
  const places = new Map(colors.map((color, place) => [color, place]));
  const others = byCount.slice(colors.length).map((color) => ({ color, far: Infinity, place: 0 }));
  const compare = (place: number): void => {
    for (const other of others) {
      const far = distance(other.color, colors[place] ?? 0);
      if (far < other.far) Object.assign(other, { far, place });
    }
  };
  for (const place of colors.keys()) compare(place);
  while (others.length > 0 && colors.length < MOST_COLORS) {
    const farthest = others.reduce((one, other) => (other.far > one.far ? other : one));
    colors.push(farthest.color);
    compare(colors.length - 1);
  }
  for (const { color, place } of others) places.set(color, place);
  return { colors, places };
};

/** Writes a picture with 256 colors at most. */
export const indexedPng = ({ width, height, data }: Pixels): Buffer => {
  const pixels = new Uint32Array(width * height);
  for (let at = 0; at < pixels.length; at += 1)
    pixels[at] =
      (data[at * 4] ?? 0) * 65_536 + (data[at * 4 + 1] ?? 0) * 256 + (data[at * 4 + 2] ?? 0);
  const { colors, places } = paletteOf(pixels);
  // Each row begins with its filter, which is none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let at = 0; at < pixels.length; at += 1) {
    const color = pixels[at] ?? 0;
    const to = at + Math.floor(at / width) + 1;
    // Most pixels have the color of the one before.
    rows[to] =
      at % width > 0 && color === pixels[at - 1] ? (rows[to - 1] ?? 0) : (places.get(color) ?? 0);
  }
  const header = Buffer.alloc(8);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', Buffer.concat([header, Buffer.from(HEADER_END)])),
    chunk('PLTE', Buffer.from(colors.flatMap(channelsOf))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};
