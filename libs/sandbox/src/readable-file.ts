import { chmod, writeFile } from 'node:fs/promises';

/** Writes a file that the user of a sandbox reads, whatever the umask of this process is. */
export const writeReadable = async (file: string, content: string | Buffer): Promise<void> => {
  await writeFile(file, content);
  await chmod(file, 0o644);
};
