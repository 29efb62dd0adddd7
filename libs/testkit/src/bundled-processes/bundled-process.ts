/**
 * The processes of Keelson and its command as tests start them: from one bundle of the sources. Finding and loading 2,700 modules one
 * by one takes three quarters of the CPU time of a start, and a run of all tests starts hundreds of processes. Tests
 * of a release run the sources.
 */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findBinary } from '../find-binary.ts';
import type { Entry } from './entries.ts';

const run = promisify(execFile);

const BUILDER = fileURLToPath(new URL('./build-bundle.ts', import.meta.url));
const REPOSITORY = fileURLToPath(new URL('../../../../', import.meta.url));
const CACHE = join(REPOSITORY, 'node_modules/.cache');

/** Builds the bundle in one process at a time, or finds that of the same sources. @returns its folder */
const buildBundle = async (): Promise<string> => {
  await mkdir(CACHE, { recursive: true });
  const flock = await findBinary('flock', 'util-linux');
  const { stdout } = await run(flock, [
    join(CACHE, 'processes.lock'),
    process.execPath,
    BUILDER,
    join(CACHE, 'processes'),
  ]);
  return stdout.trim();
};

let folder: Promise<string> | undefined;
let isBundled = true;

/** Processes that start from now on run the sources, so that a test can replace some of them while they are loaded. */
export const runSources = (): Disposable => {
  isBundled = false;
  return {
    [Symbol.dispose]: () => {
      isBundled = true;
    },
  };
};

/** @returns path of a file that does what the entry does */
export const bundledProcess = async (entry: Entry): Promise<string> => {
  if (!isBundled) return join(REPOSITORY, entry);
  folder ??= buildBundle();
  return join(await folder, entry.replace(/\.ts$/, '.js'));
};
