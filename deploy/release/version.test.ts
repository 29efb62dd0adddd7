/** One version: of every package, of the processes, and at the head of the changelog. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REPOSITORY, rootManifest, workspaceManifests } from './src/repository.ts';

const { version } = rootManifest();
const textOf = (file: string): string => readFileSync(join(REPOSITORY, file), 'utf8');

test('every package has the version of the repository', () => {
  const others = workspaceManifests().filter((manifest) => manifest.version !== version);
  expect(others.map(({ name }) => name)).toEqual([]);
});

test('the processes name the version', () => {
  expect(textOf('libs/runtime/src/version.ts')).toContain(`VERSION = '${version}'`);
});

test('the changelog begins with the version', () => {
  const [, newest] = /^## (\S+)/m.exec(textOf('CHANGELOG.md')) ?? [];
  expect(newest?.replace(/,$/, '')).toBe(version);
});
