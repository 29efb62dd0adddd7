/**
 * The file of SQLite's write-ahead log (https://www.sqlite.org/fileformat2.html#walformat), as far as it takes
 * to know whether it holds anything.
 */
import { closeSync, openSync, readSync } from 'node:fs';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;

type Sums = readonly [first: number, second: number];

const addWords = (bytes: Buffer, isBigEndian: boolean, [first, second]: Sums): Sums => {
  const wordAt = (at: number): number =>
    isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + wordAt(at) + b) >>> 0;
    b = (b + wordAt(at + 4) + a) >>> 0;
  }
  return [a, b];
};

const hasSums = (bytes: Buffer, at: number, [first, second]: Sums): boolean =>
  bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second;

/**
 * Whether the log holds a complete commit. When the last connection to a log without one is closed, SQLite
 * removes the file, even if the connection may only read.
 */
export const holdsCommit = (logFile: string): boolean => {
  const descriptor = openSync(logFile, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    if (readSync(descriptor, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return false;
    const isBigEndian = header.readUInt32BE(0) === MAGIC + 1;
    if (!isBigEndian && header.readUInt32BE(0) !== MAGIC) return false;
    let sums = addWords(header.subarray(0, 24), isBigEndian, [0, 0]);
    if (!hasSums(header, 24, sums)) return false;
    const frame = Buffer.alloc(FRAME_HEADER_BYTES + header.readUInt32BE(8));
    for (let at = HEADER_BYTES; ; at += frame.length) {
      if (readSync(descriptor, frame, 0, frame.length, at) < frame.length) return false;
      sums = addWords(frame.subarray(0, 8), isBigEndian, sums);
      sums = addWords(frame.subarray(FRAME_HEADER_BYTES), isBigEndian, sums);
      const isOfLog = frame.subarray(8, 16).equals(header.subarray(16, 24));
      if (!isOfLog || !hasSums(frame, 16, sums)) return false;
      // The last frame of a commit names the size of the database.
      if (frame.readUInt32BE(4) > 0) return true;
    }
  } finally {
    closeSync(descriptor);
  }
};
