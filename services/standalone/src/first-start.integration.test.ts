/** Every combination of what may lie in a data folder when a process starts. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DataFolder } from './data-folder.ts';
import { finishFirstStart, prepareStart } from './first-start.ts';

const MARKER = 'first-start-unfinished';
/** Without any of these a cluster is not complete. */
const NEEDED = [
  'sys.sqlite',
  'pki.sqlite',
  'workspace.sqlite',
  'auth.sqlite',
  'unseal.key',
] as const;
const OF_CLUSTER = [...NEEDED, 'sys.sqlite-wal', 'first-run.json', 'tls'] as const;
/** Made by every process, also by one that is refused. */
const OF_PROCESS = ['keelson.log', 'lock.sqlite'];

let base: string;
let made = 0;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'keelson-'));
});
afterAll(() => rmSync(base, { recursive: true }));

const folderWith = (names: readonly string[]): DataFolder => {
  made += 1;
  const path = mkdtempSync(join(base, `${made}-`));
  for (const name of [...OF_PROCESS, ...names]) writeFileSync(join(path, name), `of ${name}`);
  return { path, file: (name) => join(path, name), release: () => undefined };
};

const contentOf = ({ path }: DataFolder): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(path)
      .sort()
      .map((name) => [name, readFileSync(join(path, name), 'utf8')]),
  );

const subsetsOf = (names: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: 2 ** names.length }, (_, chosen) =>
    names.filter((_name, index) => (chosen >> index) % 2 === 1),
  );

const outcomeOf = (folder: DataFolder): string => {
  try {
    return prepareStart(folder, folder.file('unseal.key'), []);
  } catch (error) {
    return (error as Error).message;
  }
};

describe('a start', () => {
  const cases = subsetsOf([...OF_CLUSTER, MARKER]);

  test('is the first, a later one or refused, and changes only the marker', () => {
    const seen = cases.map((names) => {
      const folder = folderWith(names);
      const before = contentOf(folder);
      const outcome = outcomeOf(folder).replaceAll(`${folder.path}/`, '');
      return { names, outcome, before, after: contentOf(folder) };
    });
    const expected = seen.map(({ names, before }) => {
      const { [MARKER]: marker, ...rest } = before;
      if (names.length === 0)
        return { names, outcome: 'first', before, after: { ...rest, [MARKER]: '' } };
      if (marker !== undefined && !names.includes('first-run.json'))
        return { names, outcome: 'first', before, after: before };
      const missing = NEEDED.filter((name) => !names.includes(name));
      if (missing.length === 0) return { names, outcome: 'later', before, after: rest };
      const outcome = expect.stringContaining(`missing or empty: ${missing.join(', ')}. The data`);
      return { names, outcome, before, after: before };
    });
    expect(seen).toEqual(expected);
  });

  test.for(NEEDED)('is refused if the %s is empty', (name) => {
    const folder = folderWith(NEEDED);
    writeFileSync(folder.file(name), '');
    const before = contentOf(folder);
    expect(outcomeOf(folder)).toContain(folder.file(name));
    expect(contentOf(folder)).toEqual(before);
  });

  test('requires the key of the seal in its place', () => {
    const folder = folderWith(NEEDED.filter((name) => name !== 'unseal.key'));
    const elsewhere = join(base, 'elsewhere.key');
    expect(() => prepareStart(folder, elsewhere, [])).toThrow(elsewhere);
    writeFileSync(elsewhere, 'key');
    expect(prepareStart(folder, elsewhere, [])).toBe('later');
    // A key that was provided for a new cluster does not make the folder that of a cluster.
    expect(prepareStart(folderWith([]), elsewhere, [])).toBe('first');
  });

  test('is the first one again until the first one has finished', () => {
    const folder = folderWith([]);
    expect(prepareStart(folder, folder.file('unseal.key'), [])).toBe('first');
    writeFileSync(folder.file('sys.sqlite'), 'begun');
    expect(prepareStart(folder, folder.file('unseal.key'), [])).toBe('first');
    for (const name of NEEDED) writeFileSync(folder.file(name), 'made');
    finishFirstStart(folder);
    expect(existsSync(folder.file(MARKER))).toBe(false);
    expect(prepareStart(folder, folder.file('unseal.key'), [])).toBe('later');
  });
});
