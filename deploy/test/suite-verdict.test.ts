/** The suite's verdict on its reports: `.ci/test-counts.mjs` with reports written here. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { REPOSITORY } from './images.ts';
import { printedVerdict } from './printed-verdict.ts';

type Tests = Readonly<Record<string, 'passed' | 'failed' | 'skipped' | 'todo'>>;
interface File {
  readonly failed?: string;
  readonly tests: Tests;
  readonly cpuSeconds?: number;
}
type Run = Readonly<Record<string, File>>;

/** The lines that a command prints about these runs. */
const judge = (command: string, ...runs: readonly Run[]): readonly string[] => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const reports = runs.map((run, index) => {
    const testResults = Object.entries(run).map(([name, { failed, tests, cpuSeconds }]) => ({
      name: join(REPOSITORY, name),
      project: name.split('.')[1],
      status: failed === undefined ? 'passed' : 'failed',
      message: failed ?? '',
      cpuSeconds,
      startTime: 0,
      endTime: 10_000,
      assertionResults: Object.entries(tests).map(([fullName, status]) => ({
        fullName,
        status,
        failureMessages: status === 'failed' ? [`Error: not ${fullName}`] : [],
      })),
    }));
    const report = join(folder, `${index}.json`);
    writeFileSync(report, JSON.stringify({ testResults, errors: [], ownCpuSeconds: 9 }));
    return report;
  });
  return printedVerdict(command, ...reports);
};

const GOOD: Run = { 'a.test.ts': { tests: { one: 'passed', two: 'passed' } } };
const UNSTABLE: Run = {
  ...GOOD,
  'b.test.ts': { failed: '', tests: { three: 'failed', four: 'passed', five: 'failed' } },
};
const REPEATED: Run = {
  'b.test.ts': { failed: '', tests: { three: 'passed', four: 'passed', five: 'failed' } },
};

test('tests that pass are counted, and nothing is listed', () => {
  expect(judge('counts', GOOD)).toEqual(['2 0 0']);
  expect([judge('failing', GOOD), judge('lists', GOOD)]).toEqual([[], []]);
});

test('a test that passes only when its file is repeated has failed unless the repetition counts, and is listed as unstable', () => {
  expect(judge('failing', UNSTABLE)).toEqual(['b.test.ts']);
  expect(judge('counts', UNSTABLE)).toEqual(['3 2 0']);
  expect(judge('counts', UNSTABLE, REPEATED)).toEqual(['4 1 0']);
  expect(judge('lists', UNSTABLE, REPEATED)).toEqual([
    'unstable  b.test.ts: three',
    '          Error: not three',
    'failed    b.test.ts: five',
    '          Error: not five',
  ]);
});

test('a file that is loaded only when it is repeated has failed unless the repetition counts, and is listed as unstable', () => {
  const run: Run = { ...GOOD, 'c.test.ts': { failed: 'no such module\nin c', tests: {} } };
  const repeat: Run = { 'c.test.ts': { tests: { six: 'passed' } } };
  expect(judge('counts', run)).toEqual(['2 1 0']);
  expect(judge('counts', run, repeat)).toEqual(['3 0 0']);
  expect(judge('lists', run, repeat)).toEqual([
    'unstable  c.test.ts, as a whole',
    '          no such module',
    '          in c',
  ]);
  expect(judge('lists', run)).toEqual([
    'failed    c.test.ts, as a whole',
    '          no such module',
    '          in c',
  ]);
});

test('a test that is skipped without a reason has failed', () => {
  const run: Run = { ...GOOD, 'd.test.ts': { tests: { seven: 'skipped', eight: 'todo' } } };
  expect(judge('counts', run)).toEqual(['2 2 0']);
  expect(judge('lists', run)).toEqual([
    'skipped   d.test.ts: seven (NO REASON)',
    'skipped   d.test.ts: eight (NO REASON)',
  ]);
});

test('the names of what failed come with the first 30 lines of the error', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, line) => `in ${line}`);
  const run: Run = {
    ...UNSTABLE,
    'c.test.ts': { failed: ['no such module', ...lines(40)].join('\n'), tests: {} },
    'd.test.ts': { tests: { seven: 'skipped' } },
  };
  expect(judge('names', run, REPEATED)).toEqual([
    'skipped   d.test.ts: seven (NO REASON)',
    'unstable  b.test.ts: three',
    '          Error: not three',
    'failed    b.test.ts: five',
    '          Error: not five',
    'failed    c.test.ts, as a whole',
    '          no such module',
    ...lines(29).map((line) => `          ${line}`),
  ]);
});

test('a file whose preparation failed counts once, not with each test that it skipped', () => {
  const run: Run = { ...GOOD, 'e.test.ts': { failed: '', tests: { nine: 'skipped' } } };
  expect(judge('counts', run)).toEqual(['2 1 0']);
});

test('a test that fails only when its file is repeated is listed as failed', () => {
  const repeat: Run = {
    'b.test.ts': { failed: '', tests: { three: 'passed', four: 'failed', five: 'passed' } },
  };
  expect(judge('lists', UNSTABLE, repeat)).toEqual([
    'unstable  b.test.ts: three',
    '          Error: not three',
    'unstable  b.test.ts: five',
    '          Error: not five',
    'failed    b.test.ts: four',
    '          Error: not four',
  ]);
});

test('a project has passed if none of its files has failed, or the repetition has passed', () => {
  const run: Run = {
    'a.first.ts': { tests: { one: 'passed' } },
    'b.first.ts': { failed: '', tests: { two: 'failed' } },
    'c.second.ts': { tests: { three: 'passed' } },
  };
  expect(judge('passed', run)).toEqual(['second']);
  const repeat: Run = { 'b.first.ts': { tests: { two: 'passed' } } };
  expect(judge('passed', run, repeat)).toEqual(['first', 'second']);
});

test('the CPU time of each layer of a folder and of each file is printed, the highest first', () => {
  const run: Run = {
    'libs/bus/src/a.test.ts': { tests: {}, cpuSeconds: 4 },
    'libs/bus/src/b.test.ts': { tests: {}, cpuSeconds: 8 },
    'libs/bus/src/c.integration.test.ts': { tests: {}, cpuSeconds: 2 },
  };
  expect(judge('times', run)).toEqual([
    '    12 s CPU     20 s  libs/bus',
    '     9 s CPU      0 s  vitest itself',
    '     2 s CPU     10 s  libs/bus.integration',
    '     8 s CPU     10 s  libs/bus/src/b.test.ts',
    '     4 s CPU     10 s  libs/bus/src/a.test.ts',
    '     2 s CPU     10 s  libs/bus/src/c.integration.test.ts',
  ]);
});
