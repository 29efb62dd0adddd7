/** The suite's verdict on vitest's reports: `.ci/test-counts.mjs` with reports written here. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { REPOSITORY } from './images.ts';

type Tests = Readonly<Record<string, 'passed' | 'failed' | 'skipped' | 'todo'>>;
type Run = Readonly<Record<string, { readonly failed?: true; readonly tests: Tests }>>;

/** The lines that a command prints about these runs. */
const judge = (command: string, ...runs: readonly Run[]): readonly string[] => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = runs.map((run, index) => {
    const testResults = Object.entries(run).map(([name, { failed, tests }]) => ({
      name: join(REPOSITORY, name),
      status: failed ? 'failed' : 'passed',
      assertionResults: Object.entries(tests).map(([fullName, status]) => ({ fullName, status })),
    }));
    const file = join(folder, `${index}.json`);
    writeFileSync(file, JSON.stringify({ testResults }));
    return file;
  });
  const program = join(REPOSITORY, '.ci/test-counts.mjs');
  const printed = execFileSync(process.execPath, [program, command, ...files], {
    cwd: REPOSITORY,
    encoding: 'utf8',
  });
  return printed.split('\n').slice(0, -1);
};

const GOOD: Run = { 'a.test.ts': { tests: { one: 'passed', two: 'passed' } } };
const UNSTABLE: Run = {
  ...GOOD,
  'b.test.ts': { failed: true, tests: { three: 'failed', four: 'passed', five: 'failed' } },
};
const REPEATED: Run = {
  'b.test.ts': { failed: true, tests: { three: 'passed', four: 'passed', five: 'failed' } },
};

test('tests that pass are counted, and nothing is listed', () => {
  expect(judge('counts', GOOD)).toEqual(['2 0 0']);
  expect([judge('failing', GOOD), judge('lists', GOOD)]).toEqual([[], []]);
});

test('a test that passes only when its file is repeated has failed unless the repetition counts, and is listed as unstable', () => {
  expect(judge('failing', UNSTABLE)).toEqual(['b.test.ts']);
  expect(judge('counts', UNSTABLE)).toEqual(['3 2 0']);
  expect(judge('counts', UNSTABLE, REPEATED)).toEqual(['4 1 0']);
  expect(judge('lists', UNSTABLE, REPEATED)).toEqual(['unstable  b.test.ts: three']);
});

test('a file that is loaded only when it is repeated has failed unless the repetition counts, and is listed as unstable', () => {
  const run: Run = { ...GOOD, 'c.test.ts': { failed: true, tests: {} } };
  const repeat: Run = { 'c.test.ts': { tests: { six: 'passed' } } };
  expect(judge('counts', run)).toEqual(['2 1 0']);
  expect(judge('counts', run, repeat)).toEqual(['3 0 0']);
  expect(judge('lists', run, repeat)).toEqual(['unstable  c.test.ts, as a whole']);
});

test('a test that is skipped without a reason has failed', () => {
  const run: Run = { ...GOOD, 'd.test.ts': { tests: { seven: 'skipped', eight: 'todo' } } };
  expect(judge('counts', run)).toEqual(['2 2 0']);
  expect(judge('lists', run)).toEqual([
    'skipped   d.test.ts: seven (NO REASON)',
    'skipped   d.test.ts: eight (NO REASON)',
  ]);
});

test('a file whose preparation failed counts once, not with each test that it skipped', () => {
  const run: Run = { ...GOOD, 'e.test.ts': { failed: true, tests: { nine: 'skipped' } } };
  expect(judge('counts', run)).toEqual(['2 1 0']);
});
