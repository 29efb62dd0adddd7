/** Tests of the unit layer reach no network, start no process and write no file. */
import { globSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { importsOf } from './import-graph.ts';
import { inputAndOutputOf } from './input-and-output.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** Files that may, with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'deploy/test/images.ts': 'git lists the files of the repository',
  'deploy/test/printed-verdict.ts': 'the verdict of the suite is what its program prints',
  'deploy/test/release-proofs.test.ts': 'due proofs follow from the files that git lists',
  'deploy/test/suite-verdict.test.ts': 'the program for the verdict reads files',
  'libs/x509/src/golden.test.ts': 'writes its file only when it is asked to',
  'proto/src/generated.test.ts': 'the generator is a program',
  'services/standalone/test/golden/golden-stores.ts': 'golden stores are packed by tar',
};

const OTHER_LAYERS = /\.(?:browser|contract|integration|property)\.test\.ts$/;

const unitTests = globSync('{bench,deploy,libs,proto,services}/**/*.test.ts', {
  cwd: ROOT,
  exclude: (name) => name === 'node_modules',
}).filter((file) => !OTHER_LAYERS.test(file));

/** The tests with the files of their set-up, which are in the folders `test` of the packages. */
const filesOfUnitTests = (): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>();
  const found = new Set(unitTests);
  // A set that grows is walked to its end.
  for (const file of found) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    texts.set(file, text);
    for (const { to } of importsOf(file, text, {}))
      if (/\/test\/.*\.ts$/.test(to)) found.add(normalize(to));
  }
  return texts;
};

test('no unit test reaches the network, starts a process or writes a file, except those listed', () => {
  const found = [...filesOfUnitTests()]
    .map(([file, text]) => [file, inputAndOutputOf(file, text)] as const)
    .filter(([, names]) => names.length > 0);
  expect(found.filter(([file]) => EXCEPTIONS[file] === undefined)).toEqual([]);
  // An exception that is no longer needed is deleted.
  const files = new Set(found.map(([file]) => file));
  expect(Object.keys(EXCEPTIONS).filter((file) => !files.has(file))).toEqual([]);
});

test.each([
  ["import { writeFileSync } from 'node:fs';", ['node:fs writeFileSync']],
  ["import { readFileSync, statSync } from 'node:fs';", []],
  ["import { rm, stat } from 'node:fs/promises';", ['node:fs/promises rm']],
  ["import * as net from 'node:net';", ['node:net net']],
  ["import type { Server } from 'node:net';", []],
  ["import { type Server, createServer } from 'node:http';", ['node:http createServer']],
  ["import { startRedis, stubService } from '@keelson/testkit';", ['@keelson/testkit startRedis']],
  [
    "import { temporaryDirectory } from '@keelson/testkit';",
    ['@keelson/testkit temporaryDirectory'],
  ],
])('%s', (text, names) => {
  expect(inputAndOutputOf('a.ts', text)).toEqual(names);
});
