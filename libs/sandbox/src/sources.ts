/** Where a sandboxed program of ours finds itself and the libraries that it imports. */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/**
 * Files and folders that a program in `libs` needs: Node, the libraries, and the links by which they find one
 * another. None of them contains data of an installation.
 */
export const SOURCES: readonly string[] = [
  realpathSync(process.execPath),
  join(ROOT, 'libs'),
  join(ROOT, 'package.json'),
  join(ROOT, 'node_modules', '@keelson'),
].filter((path) => existsSync(path));
