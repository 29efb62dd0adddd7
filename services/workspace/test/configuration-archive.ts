import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

/** The upload of a configuration version: a gzipped tar of these files. */
export const archiveOf = async (
  files: Readonly<Record<string, string | Buffer>>,
): Promise<Buffer> => {
  const packed = pack();
  for (const [name, content] of Object.entries(files)) packed.entry({ name }, content);
  packed.finalize();
  const pieces: Buffer[] = [];
  for await (const piece of packed) pieces.push(piece as Buffer);
  return gzipSync(Buffer.concat(pieces));
};
