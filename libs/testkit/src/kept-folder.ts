import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder for everything that tests, and the suite, keep between runs on the same machine. */
export const keptFolder = async (): Promise<string> => {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'keelson');
  await mkdir(folder, { recursive: true });
  return folder;
};
