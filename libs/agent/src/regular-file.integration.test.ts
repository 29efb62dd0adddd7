import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { upload } from './control-plane.ts';
import { readRegular } from './regular-file.ts';

const run = promisify(execFile);

test('nobody waits for a pipe, a device or a folder in the place of a file', async () => {
  await using folder = await temporaryDirectory();
  const at = (name: string) => join(folder.path, name);
  await writeFile(at('file'), 'of the tool');
  await run('mkfifo', [at('pipe')]);
  await symlink('/dev/zero', at('device'));
  await mkdir(at('folder'));
  const read = async (name: string) => (await readRegular(at(name)))?.toString();
  expect(await Promise.all(['file', 'pipe', 'device', 'folder', 'absent'].map(read))).toEqual([
    'of the tool',
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('a pipe is not uploaded', async () => {
  await using folder = await temporaryDirectory();
  const pipe = join(folder.path, 'pipe');
  await run('mkfifo', [pipe]);
  await expect(upload('http://127.0.0.1:2/', pipe)).rejects.toThrow('is no file any more');
});
