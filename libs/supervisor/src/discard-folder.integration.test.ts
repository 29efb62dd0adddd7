/** Folders that the code of a run may leave behind, removed by root and by an ordinary user. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { discardFolder, sweepFolders } from './discard-folder.ts';

const run = promisify(execFile);
const NOBODY = { uid: 65_534, gid: 65_534 };
const PROGRAM = fileURLToPath(new URL('./testdata/discard.ts', import.meta.url));

/** A folder of an ordinary user, in one that this user may write. */
const ownFolder = async (): Promise<string> => {
  // The folder for temporary files may be closed to other users.
  const parent = await mkdtemp('/tmp/keelson-discard-');
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const folder = join(parent, 'left');
  await mkdir(folder);
  for (const path of [parent, folder]) await chown(path, NOBODY.uid, NOBODY.gid);
  return folder;
};

const discardAsNobody = async (folder: string): Promise<string | null> =>
  JSON.parse((await run(process.execPath, [PROGRAM, folder], { ...NOBODY, cwd: '/' })).stdout);

/** Each folder is made from within the one before it. */
const DEEP = `
  const name = 'x'.repeat(200);
  for (let depth = 0; depth < 60; depth += 1) {
    require('node:fs').mkdirSync(name);
    process.chdir(name);
  }
`;

test('a folder deeper than the longest path is removed', async () => {
  const folder = await ownFolder();
  await run(process.execPath, ['-e', DEEP], { cwd: folder });
  await expect(rm(folder, { recursive: true })).rejects.toThrow('ENAMETOOLONG');
  expect(await discardFolder(folder)).toBeUndefined();
  expect(existsSync(folder)).toBe(false);
});

test('a folder that its user has made unreadable is removed by this user', async () => {
  const folder = await ownFolder();
  await run('/bin/sh', ['-c', 'mkdir -p "$1/a/b"; chmod 000 "$1/a"', 'sh', folder], NOBODY);
  expect(await discardAsNobody(folder)).toBeNull();
  expect(existsSync(folder)).toBe(false);
});

test('a folder that cannot be removed is set aside once', async () => {
  const folder = await ownFolder();
  await mkdir(join(folder, 'of-root'));
  await writeFile(join(folder, 'of-root', 'file'), '');
  const aside = (await discardAsNobody(folder)) ?? '';
  expect(await readdir(join(folder, '..'))).toEqual([basename(aside)]);
  expect(await discardAsNobody(aside)).toBe(aside);
});

test('a folder that was set aside is removed with the next one in its place, once that is possible', async () => {
  const folder = await ownFolder();
  await mkdir(join(folder, 'of-root'));
  await writeFile(join(folder, 'of-root', 'file'), '');
  const aside = (await discardAsNobody(folder)) ?? '';
  await chown(join(aside, 'of-root'), NOBODY.uid, NOBODY.gid);
  expect(await discardAsNobody(folder)).toBeNull();
  expect(await readdir(join(folder, '..'))).toEqual([]);
});

test('folders that nobody has changed for long are swept, and no others', async () => {
  const parent = await mkdtemp('/tmp/keelson-sweep-');
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const DAY_MS = 86_400_000;
  const old = new Date(Date.now() - 2 * DAY_MS);
  for (const name of ['worker-old', 'worker-new', 'other-old']) await mkdir(join(parent, name));
  await writeFile(join(parent, 'worker-old', 'ssh-key'), 'secret');
  await symlink(join(parent, 'other-old'), join(parent, 'worker-link'));
  for (const name of ['worker-old', 'other-old']) await utimes(join(parent, name), old, old);
  await sweepFolders(parent, 'worker-', DAY_MS);
  expect((await readdir(parent)).toSorted()).toEqual(['other-old', 'worker-link', 'worker-new']);
});
