/** The verdict on runs of vitest with the suite's reporter, `.ci/report.mjs`, on files made for this. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, watch } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { REPOSITORY } from './images.ts';
import { printedVerdict } from './printed-verdict.ts';

const CASES = 'deploy/test/testdata/suite';

/** Starts vitest on cases. */
const startRun = async (cases: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const folder = await temporaryDirectory();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const report = join(folder.path, 'report.json');
  const vitest = join(REPOSITORY, 'node_modules/vitest/vitest.mjs');
  const run = spawn(process.execPath, [vitest, 'run', '--root', CASES, ...cases], {
    cwd: REPOSITORY,
    env: { ...process.env, SUITE_REPORT: report, ...env },
    stdio: 'ignore',
  });
  return { report, folder: folder.path, run, ended: once(run, 'exit') };
};

test('a test, a preparation, a file, an error that nobody awaits and a worker that crash are each named with the error', async () => {
  const { report, ended } = await startRun(['tests', 'unprepared', 'unloadable', 'stray', 'crash']);
  await ended;
  expect(printedVerdict('lists', report)).toEqual([
    `failed    ${CASES}/crash.case.ts, as a whole`,
    expect.stringContaining('          Worker exited unexpectedly with signal SIGKILL'),
    `failed    ${CASES}/stray.case.ts, as a whole`,
    '          Error: nobody awaits this',
    `              at ${CASES}/stray.case.ts:4:23`,
    `failed    ${CASES}/tests.case.ts: a group fails`,
    '          Error: a reason',
    '          in two lines',
    `              at ${CASES}/tests.case.ts:7:11`,
    '          Caused by Error: a cause',
    `              at ${CASES}/tests.case.ts:7:56`,
    `failed    ${CASES}/unloadable.case.ts, as a whole`,
    '          Error: not loaded',
    `              at ${CASES}/unloadable.case.ts:4:7`,
    `failed    ${CASES}/unprepared.case.ts, as a whole`,
    '          Error: no database',
    `              at ${CASES}/unprepared.case.ts:5:11`,
  ]);
  expect(printedVerdict('counts', report)).toEqual(['2 5 0']);
  expect(printedVerdict('passed', report)).toEqual([]);
});

test('the last lines of its servers follow a test or a preparation that failed', async () => {
  const { report, ended } = await startRun(['server']);
  await ended;
  const lastLines = (server: string): readonly string[] => [
    expect.stringMatching(new RegExp(`^          the log of sh .* ${server}$`)),
    ...Array.from({ length: 20 }, (_, index) => `            ${server} ${index + 11}`),
  ];
  expect(printedVerdict('lists', report)).toEqual([
    `failed    ${CASES}/server.case.ts, as a whole`,
    '          Error: not prepared',
    `              at ${CASES}/server.case.ts:22:11`,
    ...lastLines('preparing'),
    `failed    ${CASES}/server.case.ts: fails after its server has ended`,
    '          Error: after the server',
    `              at ${CASES}/server.case.ts:17:9`,
    ...lastLines('failing'),
  ]);
});

test('the test that runs is known while it runs, and so are those that have failed', async () => {
  const { report, folder, run, ended } = await startRun(['tests', 'endless']);
  const interim = `${report}.interim`;
  let text = '';
  for await (const _ of watch(folder)) {
    text = await readFile(interim, 'utf8').catch(() => '');
    if (text.includes('never ends') && text.includes('fails')) break;
  }
  run.kill();
  await ended;
  expect(text.split('\n')).toEqual([
    `failed    ${CASES}/tests.case.ts: a group fails`,
    expect.stringContaining(`running   ${CASES}/endless.case.ts: never ends, since 20`),
    '',
  ]);
});

test('a run whose end is held up by what a test has left ends, and has failed', async () => {
  const { report, ended } = await startRun(['leaving'], { SUITE_END_WITHIN_MS: '500' });
  expect(await ended).toEqual([1, null]);
  expect(printedVerdict('counts', report)).toEqual(['1 1 0']);
  expect(printedVerdict('lists', report)).toEqual([
    'failed    an error outside of all tests',
    expect.stringContaining('The run did not end after its last test'),
  ]);
});
