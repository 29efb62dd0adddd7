/** The table of screens in README.md, which names the test of each group. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');
const [, table = '', list = ''] = readme.split(/^## Coverage of screens$|^### Tests$/m);

/** Cells of the table's rows, without its head. */
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()));

/** "file title" of each listed test, by group. */
const listed = new Map(
  list
    .split(/^## /m)[0]
    ?.split(/^- /m)
    .slice(1)
    .map((group) => {
      const [name = '', ...tests] = group.trimEnd().split(/\n {2}- /);
      return [name, tests.map((text) => text.replaceAll('`', ''))] as const;
    }),
);

const TITLE =
  /\btest(?:\.(?:each|for)\((?:[A-Z_]+|\[[^]*?\n? *\](?: as const)?)\))?\(\s*'((?:[^'\\]|\\.)*)'/g;

/** "file title" of every browser test. */
const existing = globSync('*.browser.test.ts', { cwd: import.meta.dirname }).flatMap((file) => {
  const source = readFileSync(join(import.meta.dirname, file), 'utf8');
  const name = basename(file, '.browser.test.ts');
  return [...source.matchAll(TITLE)].map(([, title]) => `${name} ${title}`);
});

test('has nineteen groups, each covered and with tests', () => {
  expect(rows).toHaveLength(19);
  for (const [, group = '', , , covered] of rows)
    expect({ group, covered, tests: listed.get(group)?.length ?? 0 }).toEqual({
      group,
      covered: 'yes',
      tests: expect.toSatisfy((count: number) => count > 0),
    });
  expect([...listed.keys()]).toEqual([...rows.map(([, group]) => group), 'every page']);
});

test('names every browser test once, and no other', () => {
  const named = [...listed.values()].flat();
  expect(named.toSorted()).toEqual(existing.toSorted());
});
