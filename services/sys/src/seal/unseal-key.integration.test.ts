import { execFile } from 'node:child_process';
import { copyFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openInitializedSys, openSysHarness, type SysHarness } from '../../test/sys-harness.ts';

const run = promisify(execFile);

let folder: TemporaryDirectory;
let harness: SysHarness;
let token: string;
const file = (name: string): string => join(folder.path, name);
const keyFile = (): string => file('unseal.key');
const nextFile = (): string => file('unseal.key.next');
const aKey = (byte: number): string => Buffer.alloc(32, byte).toString('base64');

beforeEach(async () => {
  folder = await temporaryDirectory();
  harness = await openSysHarness({ config: { unsealKeyFile: keyFile() } });
  await harness.sys.start();
  token = (await harness.sys.seal.initialize({ shares: 1, threshold: 1 })).rootToken;
  await copyFile(keyFile(), file('leaked.key'));
});
afterEach(async () => {
  await harness.close();
  await folder[Symbol.asyncDispose]();
});

const replace = () => harness.call('POST', 'sys/rotate/unseal-key', { token });
/** Closes the seal and opens it as a start does. */
const restart = async (): Promise<void> => {
  await harness.call('PUT', 'sys/seal', { token });
  await harness.sys.start();
};
const isThere = (name: string): Promise<boolean> =>
  stat(name).then(
    () => true,
    () => false,
  );
const opensWith = async (key: string): Promise<boolean> => {
  const kept = await readFile(keyFile());
  await copyFile(key, keyFile());
  const isOpen = await restart().then(
    () => true,
    () => false,
  );
  await writeFile(keyFile(), kept);
  await restart();
  return isOpen;
};

describe('the key file of a static seal', () => {
  test('is replaced: the former file opens nothing, the new one every later start', async () => {
    expect((await replace()).status).toBe(204);
    expect(await isThere(nextFile())).toBe(false);
    expect((await stat(keyFile())).mode & 0o777).toBe(0o600);
    expect(await readFile(keyFile())).not.toEqual(await readFile(file('leaked.key')));
    expect(await opensWith(file('leaked.key'))).toBe(false);
    expect((await harness.call('GET', 'auth/token/lookup-self', { token })).status).toBe(200);
  });

  test('is replaced by the key that an operator put beside it', async () => {
    await writeFile(nextFile(), aKey(1), { mode: 0o600 });
    expect((await replace()).status).toBe(204);
    expect(await readFile(keyFile(), 'utf8')).toBe(`${aKey(1)}\n`);
    expect(await opensWith(file('leaked.key'))).toBe(false);
  });

  test('is replaced at a start that finds the next key, as where no request is served', async () => {
    await writeFile(nextFile(), aKey(1), { mode: 0o600 });
    await restart();
    expect([await readFile(keyFile(), 'utf8'), await isThere(nextFile())]).toEqual([
      `${aKey(1)}\n`,
      false,
    ]);
    expect(await opensWith(file('leaked.key'))).toBe(false);
  });

  test('a start completes a replacement that ended before the file was moved', async () => {
    await replace();
    await copyFile(keyFile(), nextFile());
    await copyFile(file('leaked.key'), keyFile());
    const next = await readFile(nextFile());
    await restart();
    expect([await readFile(keyFile()), await isThere(nextFile())]).toEqual([next, false]);
    expect(await opensWith(file('leaked.key'))).toBe(false);
  });

  test('a next key that does not open a replaced seal is not taken for the former one', async () => {
    await replace();
    await copyFile(keyFile(), file('current.key'));
    await copyFile(file('leaked.key'), keyFile());
    await writeFile(nextFile(), aKey(1), { mode: 0o600 });
    await expect(restart()).rejects.toThrow('does not open this cluster');
    expect([await readFile(nextFile(), 'utf8'), await readFile(keyFile())]).toEqual([
      aKey(1),
      await readFile(file('leaked.key')),
    ]);
    await rm(nextFile());
    await copyFile(file('current.key'), keyFile());
    await restart();
  });

  test('is not replaced by itself, nor by a file without a key', async () => {
    await copyFile(keyFile(), nextFile());
    const same = await replace();
    expect([same.status, same.body.errors]).toEqual([
      400,
      [`the key in ${nextFile()} is the present one`],
    ]);
    await writeFile(nextFile(), 'no key');
    const none = await replace();
    expect([none.status, none.body.errors]).toEqual([
      400,
      [`${nextFile()} holds no key: 32 bytes in base64 are wanted`],
    ]);
    await rm(nextFile());
    expect(await opensWith(file('leaked.key'))).toBe(true);
  });

  test('a key that cannot be moved opens the seal from where it is, and the answer says so', async () => {
    // A file that is mounted, as an orchestrator mounts secrets, cannot be replaced by another.
    await run('mount', ['--bind', keyFile(), keyFile()]);
    try {
      const answer = await replace();
      expect([answer.status, answer.body.warnings]).toEqual([
        200,
        [expect.stringContaining('the server cannot move the file')],
      ]);
      await restart();
      expect(await readdir(folder.path)).toEqual(['leaked.key', 'unseal.key', 'unseal.key.next']);
    } finally {
      await run('umount', [keyFile()]);
    }
    await restart();
    expect(await isThere(nextFile())).toBe(false);
    expect(await opensWith(file('leaked.key'))).toBe(false);
  });
});

test('a seal of shares has no key file to replace', async () => {
  const shamir = await openInitializedSys();
  const answer = await shamir.asRoot('POST', 'sys/rotate/unseal-key');
  expect([answer.status, answer.body.errors]).toEqual([
    400,
    ['no key file opens this seal: replace its key shares with sys/rekey'],
  ]);
  await shamir.close();
});
