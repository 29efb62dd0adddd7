import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../temporary-directory.ts';
import { findMade, statesOf, writeManifest } from './manifest.ts';

let root: string;
let manifest: string;
let made: string;

beforeEach(async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  root = directory.path;
  manifest = join(root, 'manifest.txt');
  made = join(root, 'made');
  mkdirSync(made);
  for (const file of ['a b.ts', 'c.ts']) writeFileSync(join(root, file), 'text');
  writeManifest(manifest, { made, states: statesOf(root, ['a b.ts', 'c.ts', 'absent.ts']) });
});

test('a result is found while its sources are what they were', () => {
  expect(findMade(root, manifest)).toBe(made);
});

test.each<readonly [string, () => void]>([
  ['one source is larger', () => writeFileSync(join(root, 'a b.ts'), 'longer text')],
  ['one source was written later', () => utimesSync(join(root, 'c.ts'), 0, 0)],
  ['one source was removed', () => rmSync(join(root, 'c.ts'))],
  ['a file exists that did not', () => writeFileSync(join(root, 'absent.ts'), '')],
  ['the result was removed', () => rmSync(made, { recursive: true })],
  ['the manifest was removed', () => rmSync(manifest)],
])('it is not found once %s', (_change, change) => {
  change();
  expect(findMade(root, manifest)).toBeUndefined();
});
