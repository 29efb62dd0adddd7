/** Files in the folder of a phase, which code of the run may have replaced by a pipe or a device. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

export class NotRegular extends Error {}

/** Does not wait for whoever would write to a pipe. @throws NotRegular if it is something else */
export const openRegular = async (file: string): Promise<FileHandle> => {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new NotRegular(`${file} is no file any more`);
};

/** The bytes of a regular file; undefined if there is none. */
export const readRegular = async (file: string): Promise<Buffer | undefined> => {
  try {
    await using handle = await openRegular(file);
    return await handle.readFile();
  } catch {
    return undefined;
  }
};
