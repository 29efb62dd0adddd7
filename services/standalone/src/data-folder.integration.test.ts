import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeDataFolder, openDataFolder } from './data-folder.ts';

const NOBODY = 65_534;

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'keelson-'));
});
afterEach(() => rmSync(base, { recursive: true }));

/** Root may write anywhere, so another user tries. */
const asNobody = <T>(work: () => T): T => {
  if (process.getuid?.() !== 0) return work();
  process.seteuid?.(NOBODY);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
};

describe('a data folder', () => {
  test('is created for its owner only, and an existing one keeps its mode', () => {
    const made = makeDataFolder(join(base, 'new', 'data'));
    expect(statSync(made).mode & 0o777).toBe(0o700);
    chmodSync(base, 0o755);
    expect(makeDataFolder(base)).toBe(base);
    expect(statSync(base).mode & 0o777).toBe(0o755);
  });

  test('that is a file is refused with its name', () => {
    const file = join(base, 'data');
    writeFileSync(file, 'kept');
    expect(() => openDataFolder(file)).toThrow(
      `KEELSON_DATA_DIR: the data folder ${file} is a file`,
    );
  });

  test('that cannot be created is refused with its name', () => {
    const file = join(base, 'file');
    writeFileSync(file, '');
    const folder = join(file, 'data');
    expect(() => openDataFolder(folder)).toThrow(
      `KEELSON_DATA_DIR: the data folder ${folder} cannot be made (ENOTDIR`,
    );
  });

  test('on a read-only file system is refused with this reason', () => {
    const folder = join(base, 'new', 'data');
    const make = `
      const { makeDataFolder } = await import(${JSON.stringify(import.meta.resolve('./data-folder.ts'))});
      try { makeDataFolder(${JSON.stringify(folder)}); } catch ({ message }) { console.log(message); }`;
    const mounted = 'mount -t tmpfs -o ro none "$1" && exec "$2" --input-type=module -e "$3"';
    const ended = spawnSync(
      'unshare',
      [
        '--user',
        '--map-root-user',
        '--mount',
        'sh',
        '-c',
        mounted,
        'sh',
        base,
        process.execPath,
        make,
      ],
      { encoding: 'utf8' },
    );
    expect(ended.stdout).toContain(
      `KEELSON_DATA_DIR: the data folder ${folder} cannot be made (EROFS: read-only file system`,
    );
  });

  test('that cannot be written is refused with its name', () => {
    chmodSync(base, 0o555);
    expect(() => asNobody(() => openDataFolder(base))).toThrow(
      `KEELSON_DATA_DIR: the data folder ${base} cannot be written (EACCES`,
    );
  });

  test('is used by one process at a time, and free again when released', () => {
    const first = openDataFolder(base);
    expect(() => openDataFolder(base)).toThrow('is in use by another Keelson process');
    first.release();
    openDataFolder(base).release();
    expect(statSync(first.file('lock.sqlite')).mode & 0o777).toBe(0o600);
  });
});
