import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string;
}

const directoryIn = async (parent: string): Promise<TemporaryDirectory> => {
  const path = await mkdtemp(join(parent, 'keelson-test-'));
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
};

/** An empty directory that is removed on disposal (`await using`). In the suite it is in memory. */
export const temporaryDirectory = (): Promise<TemporaryDirectory> => directoryIn(tmpdir());

/** The same on a disk, for tests of crashes, disks and power cuts. */
export const diskDirectory = (): Promise<TemporaryDirectory> =>
  directoryIn(process.env['DISK_TMPDIR'] ?? tmpdir());
