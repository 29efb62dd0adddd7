import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exposedFiles } from './private-files.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-private-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const problems = (mode: number): readonly string[] => {
  const file = join(folder, mode.toString(8));
  writeFileSync(file, 'secret');
  chmodSync(file, mode);
  return exposedFiles(new Map([['KEELSON_X_FILE', file]]));
};

test.for([0o600, 0o400, 0o640, 0o440, 0o660])('a file of mode %o is private', (mode) =>
  expect(problems(mode)).toEqual([]),
);

test.for([0o644, 0o444, 0o602, 0o666, 0o601])('a file of mode %o is refused', (mode) =>
  expect(problems(mode)).toEqual([
    expect.stringMatching(
      new RegExp(`^KEELSON_X_FILE: .* its mode 0${mode.toString(8)} .*chmod o= ${folder}`),
    ),
  ]),
);

test('a file that is not there is left to whoever reads it', () =>
  expect(exposedFiles(new Map([['KEELSON_X_FILE', join(folder, 'none', 'x')]]))).toEqual([]));
