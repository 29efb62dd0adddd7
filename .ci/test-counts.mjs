/**
 * Judges the reports of `report.mjs`: that of the run, and that of its failed files, each repeated alone.
 *
 *   failing RUN          files to repeat, one per line
 *   lists RUN [REPEAT]   what the counts do not show, one per line:
 *                          skipped   a test that was left out, with the reason or NO REASON
 *                          unstable  a test that failed and passed when it was repeated
 *                          failed    a test that failed and did not pass when it was repeated, or a file as a whole
 *                        The latter two are followed by the first error with its causes and places, and the last
 *                        lines that the servers of the test have logged.
 *   names RUN [REPEAT]   the same without those left out for a known reason, each with the first lines of its error
 *   times RUN            the CPU seconds of tests by folder and layer, and of the twenty files that used most, each with
 *                        the seconds from its beginning to its end
 *   counts RUN [REPEAT]  tests that passed, failed and were left out for a known reason
 *   passed RUN [REPEAT]  the vitest projects of which every file has passed, one per line
 *
 * Without a repetition the run decides: an unstable test has failed. With it, a repeated file counts as repeated. A test
 * that is skipped without a reason below has failed, and so have a file that could not be loaded and an error that
 * belongs to no test.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** Why tests may be left out: `applies` on this machine, and to the test of that name. */
const REASONS = [
  {
    reason: 'runs execute under users of their own, and packages are installed, only as root',
    applies: process.getuid?.() !== 0,
    names: /^the built-in runner executes (two phases at once|runs under users)|the Debian package/,
  },
];

/** Limits of the report on one test that failed. */
const MAX_ERROR_LINES = { lists: 100, names: 30 };
const MAX_LINE_LENGTH = 500;

const reasonOf = (test) =>
  REASONS.find(({ applies, names }) => applies && names.test(test.fullName))?.reason;

const [wanted, ...paths] = process.argv.slice(2);
const reports = paths.map((path) => JSON.parse(readFileSync(path, 'utf8')));
const [run = [], repeat = []] = reports.map(({ testResults }) => testResults);
/** Errors that belong to no test, such as those of a promise that nobody awaits. */
const strayErrors = reports.flatMap(({ errors }) => errors);
const nameOf = (file) => relative(process.cwd(), file.name);
const testsOf = (file, status) => file.assertionResults.filter((test) => test.status === status);
const failedFiles = run.filter((file) => file.status === 'failed');
/** The files whose tests count. */
const repeatOf = (file) =>
  repeat.find(({ name, project }) => name === file.name && project === file.project);
const decisive = run.map((file) => repeatOf(file) ?? file);
/** No test of the file has failed, but its preparation, or it could not be loaded. */
const hasFailedAsWhole = (file) => file.status === 'failed' && testsOf(file, 'failed').length === 0;
/** In a file that failed, tests are also skipped because what they need was not there. */
const skipped = run
  .filter((file) => file.status !== 'failed')
  .flatMap((file) =>
    file.assertionResults
      .filter(({ status }) => status !== 'passed' && status !== 'failed')
      .map((test) => ({ file, test, reason: reasonOf(test) })),
  );

if (wanted === 'failing') for (const file of failedFiles) console.log(nameOf(file));

if (wanted === 'times') {
  const sums = new Map();
  const files = run.map((file) => {
    const name = nameOf(file);
    const [, folder, layer = ''] =
      /^((?:services|libs)\/[^/]+|[^/]+)\/.*?(\.[a-z]+)?\.test\.ts$/.exec(name) ?? [];
    const used = { cpu: file.cpuSeconds, seconds: (file.endTime - file.startTime) / 1000 };
    const sum = sums.get(folder + layer) ?? { cpu: 0, seconds: 0 };
    sums.set(folder + layer, { cpu: sum.cpu + used.cpu, seconds: sum.seconds + used.seconds });
    return [name, used];
  });
  const vitest = ['vitest itself', { cpu: reports[0].ownCpuSeconds, seconds: 0 }];
  const mostFirst = (entries) => [...entries].sort(([, a], [, b]) => b.cpu - a.cpu).slice(0, 20);
  const column = (seconds) => `${String(Math.round(seconds)).padStart(6)} s`;
  for (const [name, { cpu, seconds }] of [...mostFirst([...sums, vitest]), ...mostFirst(files)])
    console.log(`${column(cpu)} CPU ${column(seconds)}  ${name}`);
}

if (wanted === 'lists' || wanted === 'names') {
  const list = (heading, text, error, childLogs = []) => {
    console.log(`${heading.padEnd(9)} ${text}`);
    const print = (lines, indent) => {
      for (const line of lines)
        console.log(`${' '.repeat(indent)}${line.slice(0, MAX_LINE_LENGTH)}`);
    };
    if (error !== '')
      print(stripVTControlCharacters(error).split('\n').slice(0, MAX_ERROR_LINES[wanted]), 10);
    for (const { child, lines } of wanted === 'lists' ? childLogs : []) {
      print([`the log of ${child}`], 10);
      print(lines, 12);
    }
  };
  for (const { file, test, reason = 'NO REASON' } of skipped)
    if (wanted === 'lists' || reason === 'NO REASON')
      list('skipped', `${nameOf(file)}: ${test.fullName} (${reason})`, '');

  const unstable = [];
  const failed = [];
  for (const file of failedFiles) {
    const again = repeatOf(file);
    // A preparation may have failed as well.
    if (hasFailedAsWhole(file) || file.message !== '') {
      const group = again?.status === 'passed' ? unstable : failed;
      group.push([`${nameOf(file)}, as a whole`, file.message, file.childLogs]);
    }
    for (const test of testsOf(file, 'failed')) {
      const hasPassedAgain = again?.assertionResults.some(
        ({ fullName, status }) => fullName === test.fullName && status === 'passed',
      );
      const group = hasPassedAgain ? unstable : failed;
      group.push([
        `${nameOf(file)}: ${test.fullName}`,
        test.failureMessages[0] ?? '',
        test.childLogs,
      ]);
    }
    // Tests that failed only in the repetition.
    for (const test of again === undefined ? [] : testsOf(again, 'failed'))
      if (!testsOf(file, 'failed').some(({ fullName }) => fullName === test.fullName))
        failed.push([
          `${nameOf(file)}: ${test.fullName}`,
          test.failureMessages[0] ?? '',
          test.childLogs,
        ]);
  }
  for (const error of strayErrors) failed.push(['an error outside of all tests', error]);
  for (const entry of unstable) list('unstable', ...entry);
  for (const entry of failed) list('failed', ...entry);
}

if (wanted === 'counts') {
  const count = (status) => decisive.reduce((sum, file) => sum + testsOf(file, status).length, 0);
  const broken = decisive.filter(hasFailedAsWhole).length;
  const reasonless = skipped.filter(({ reason }) => reason === undefined).length;
  console.log(
    count('passed'),
    count('failed') + broken + reasonless + strayErrors.length,
    skipped.length - reasonless,
  );
}

if (wanted === 'passed') {
  const projects = Map.groupBy(decisive, ({ project }) => project);
  for (const [project, files] of projects)
    if (files.every(({ status }) => status === 'passed')) console.log(project);
}
