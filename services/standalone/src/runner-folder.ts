import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Folder of the files of runs where none is set. Not in the data folder, because the users of runs cannot
 * traverse it.
 */
export const runnerFolderOf = (dataFolder: string): string =>
  join(
    tmpdir(),
    `keelson-runner-${createHash('sha256').update(dataFolder).digest('hex').slice(0, 12)}`,
  );
