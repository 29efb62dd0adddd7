/** Which files an audit device may write: judged by the path's target, not by its text. */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AuditFileRules, openAuditFile } from './audit-file.ts';
import { openAuditSink } from './audit-sink.ts';

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
const at = (...names: readonly string[]): string => join(folder.path, ...names);
beforeEach(async () => {
  folder = await temporaryDirectory();
  for (const name of ['data', 'data/audit', 'logs', 'elsewhere']) await mkdir(at(name));
  await writeFile(at('data/unseal.key'), 'key');
  await writeFile(at('own.key'), 'key');
  await symlink(at('data/unseal.key'), at('logs/to-key'));
  await symlink(at('data'), at('logs/to-data'));
  await symlink(at('elsewhere'), at('logs/to-elsewhere'));
  await symlink(at('logs'), at('to-logs'));
});
afterEach(() => folder[Symbol.asyncDispose]());

const outcome = async (path: string, rules: AuditFileRules): Promise<string> => {
  try {
    const handle = await openAuditFile(at(path), 0o600, rules);
    await handle.appendFile('entry\n');
    await handle.close();
    return 'written';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
};

const OWN = 'file_path names a file or a folder of Keelson itself';
const OUTSIDE = 'file_path is not in a folder of KEELSON_AUDIT_DIRECTORIES';
const LINK = 'file_path is a symbolic link';

describe('an audit file', () => {
  test.for<[string, string]>([
    ['logs/audit.log', 'written'],
    ['logs/to-elsewhere/audit.log', 'written'],
    ['data/unseal.key', OWN],
    ['data/new.log', OWN],
    ['data/audit/new.log', OWN],
    ['own.key', OWN],
    ['logs/to-data/unseal.key', OWN],
    ['logs/to-data/new.log', OWN],
    ['logs/to-key', LINK],
    ['absent/audit.log', "ENOENT: no such file or directory, realpath '"],
  ])('without configured folders at %s: %s', async ([path, expected]) => {
    const rules = { folders: [], reserved: [at('data'), at('own.key'), at('not-there')] };
    expect(await outcome(path, rules)).toContain(expected);
    for (const key of ['data/unseal.key', 'own.key'])
      expect(await readFile(at(key), 'utf8')).toBe('key');
  });

  test.for<[string, string]>([
    ['logs/audit.log', 'written'],
    ['to-logs/audit.log', 'written'],
    ['data/audit/audit.log', 'written'],
    ['data/unseal.key', OUTSIDE],
    ['elsewhere/audit.log', OUTSIDE],
    ['logs-other', OUTSIDE],
    ['logs/to-elsewhere/audit.log', OUTSIDE],
    ['logs/to-data/new.log', OUTSIDE],
    ['logs/to-key', LINK],
  ])('in configured folders at %s: %s', async ([path, expected]) => {
    const rules = { folders: [at('to-logs'), at('data/audit')], reserved: [at('data')] };
    expect(await outcome(path, rules)).toBe(expected);
    expect(await readFile(at('data/unseal.key'), 'utf8')).toBe('key');
  });

  test('a configured folder gives no access to files of Keelson outside it', async () => {
    for (const folders of [[folder.path], [at('data')]])
      expect(await outcome('data/unseal.key', { folders, reserved: [at('data')] })).toBe(OWN);
  });

  test('that was removed while it was open is a fault once, and is made again', async () => {
    const file = at('logs/audit.log');
    const sink = openAuditSink('file', { file_path: file }, { folders: [], reserved: [] });
    await sink.write('first\n');
    await sink.check();
    await rm(file);
    await expect(sink.check()).rejects.toThrow('the file was removed, and is made again');
    await sink.check();
    await sink.write('second\n');
    expect(await readFile(file, 'utf8')).toBe('second\n');
    await sink.close();
  });

  test('is a regular file; a pipe is refused without waiting', async () => {
    execFileSync('mkfifo', [at('logs/pipe')]);
    expect(await outcome('logs/pipe', { folders: [], reserved: [] })).toMatch(/^ENXIO/);
  });
});
