/**
 * Judges vitest's JSON reports: that of the run, and that of its failed files, each repeated alone.
 *
 *   failing RUN          files to repeat, one per line
 *   lists RUN [REPEAT]   what the counts do not show, one per line:
 *                          unstable  a test that failed and passed when it was repeated
 *                          skipped   a test that was left out, with the reason or NO REASON
 *   times RUN            the seconds of tests by folder and layer, and of the twenty files that took longest
 *   counts RUN [REPEAT]  tests that passed, failed and were left out for a known reason
 *
 * Without a repetition the run decides: an unstable test has failed. With it, a repeated file counts as repeated. A test
 * that is skipped without a reason below has failed, and so has a file that could not be loaded.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Why tests may be left out: `applies` on this machine, and to the test of that name. */
const REASONS = [
  {
    reason: 'runs execute under users of their own, and packages are installed, only as root',
    applies: process.getuid?.() !== 0,
    names: /^the built-in runner executes (two phases at once|runs under users)|the Debian package/,
  },
  {
    reason: 'the field is set when the client is created, and no update has it',
    applies: true,
    names:
      /^(the field|a text that is returned) (private-key|service-provider|http-url|api-url) of OAuth clients/,
  },
  {
    reason:
      'open fault: a second replica is sometimes not sealed after its cluster became a secondary',
    applies: true,
    names: /^two replicas of a secondary /,
  },
];

const reasonOf = (test) =>
  REASONS.find(({ applies, names }) => applies && names.test(test.fullName))?.reason;

const [wanted, ...reports] = process.argv.slice(2);
const [run = [], repeat = []] = reports.map(
  (path) => JSON.parse(readFileSync(path, 'utf8')).testResults,
);
const nameOf = (file) => relative(process.cwd(), file.name);
const testsOf = (file, status) => file.assertionResults.filter((test) => test.status === status);
const failedFiles = run.filter((file) => file.status === 'failed');
/** The files whose tests count. */
const decisive = run.map((file) => repeat.find(({ name }) => name === file.name) ?? file);
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
    const seconds = (file.endTime - file.startTime) / 1000;
    sums.set(folder + layer, (sums.get(folder + layer) ?? 0) + seconds);
    return [name, seconds];
  });
  const longestFirst = (entries) => [...entries].sort(([, a], [, b]) => b - a).slice(0, 20);
  for (const [name, seconds] of [...longestFirst(sums), ...longestFirst(files)])
    console.log(`${String(Math.round(seconds)).padStart(6)} s  ${name}`);
}

if (wanted === 'lists') {
  for (const file of failedFiles) {
    const again = repeat.find(({ name }) => name === file.name);
    const failed = testsOf(file, 'failed');
    if (failed.length === 0 && again?.status === 'passed')
      console.log(`unstable  ${nameOf(file)}, as a whole`);
    const passedAgain = new Set(
      again === undefined ? [] : testsOf(again, 'passed').map(({ fullName }) => fullName),
    );
    for (const { fullName } of failed)
      if (passedAgain.has(fullName)) console.log(`unstable  ${nameOf(file)}: ${fullName}`);
  }
  for (const { file, test, reason = 'NO REASON' } of skipped)
    console.log(`skipped   ${nameOf(file)}: ${test.fullName} (${reason})`);
}

if (wanted === 'counts') {
  const count = (status) => decisive.reduce((sum, file) => sum + testsOf(file, status).length, 0);
  const broken = decisive.filter(
    (file) => file.status === 'failed' && testsOf(file, 'failed').length === 0,
  );
  const reasonless = skipped.filter(({ reason }) => reason === undefined).length;
  console.log(
    count('passed'),
    count('failed') + broken.length + reasonless,
    skipped.length - reasonless,
  );
}
