/** Finds the README.md in the working directory of a configuration's runs. */
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';

/** Largest README that is stored, in bytes; a longer one is cut. */
const MAX_README_BYTES = 64 * 1024;
/** Unpacked bytes that are searched, a limit because an archive may unpack to any size. */
const MAX_SEARCHED_BYTES = 32 * 1024 * 1024;

const toPath = (name: string): string => name.replace(/^(\.?\/)+/, '').replace(/(?<!\/)\/+$/, '');

const upTo = (limitBytes: number) =>
  async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let leftBytes = limitBytes;
    for await (const piece of pieces) {
      leftBytes -= piece.byteLength;
      if (leftBytes < 0) return;
      yield piece;
    }
  };

const readBeginning = async (pieces: AsyncIterable<Buffer>): Promise<string> => {
  const held: Buffer[] = [];
  let heldBytes = 0;
  for await (const piece of pieces) {
    if (heldBytes < MAX_README_BYTES) held.push(piece);
    heldBytes += piece.byteLength;
  }
  // A character that the limit cuts in two is dropped.
  return new TextDecoder().decode(Buffer.concat(held).subarray(0, MAX_README_BYTES), {
    stream: true,
  });
};

/**
 * @param archive gzipped tar archive; anything else has no README
 * @param folder relative to the archive's root; "" is the root
 * @returns the text, null when there is no README
 */
export const findReadme = async (
  archive: AsyncIterable<Uint8Array>,
  folder: string,
): Promise<string | null> => {
  const wanted = [toPath(folder), 'readme.md'].filter((part) => part !== '').join('/');
  const entries = extract();
  // An error of the stream ends the entries as well.
  const unpacking = pipeline(
    archive,
    createGunzip(),
    upTo(MAX_SEARCHED_BYTES),
    entries,
    () => undefined,
  );
  try {
    for await (const entry of entries) {
      if (toPath(entry.header.name).toLowerCase() === wanted.toLowerCase()) {
        return await readBeginning(entry as AsyncIterable<Buffer>);
      }
      entry.resume();
    }
  } catch {
    // Not an archive, or larger than the search limit. The agent reports the error when it unpacks the
    // archive.
  } finally {
    unpacking.destroy();
  }
  return null;
};
