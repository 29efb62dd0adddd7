/**
 * Reads vitest's JSON reports: the first run, then the second one of the files that failed in it.
 *
 *   failing FIRST            files to run again, one per line
 *   counts FIRST [SECOND]    tests that passed and failed; a file of the second run replaces that of the first
 *   unstable FIRST [SECOND]  tests that failed in the first run and passed in the second, one per line
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [wanted, ...reports] = process.argv.slice(2);
const runs = reports.map((path) => JSON.parse(readFileSync(path, 'utf8')).testResults);
const latest = new Map(runs.flat().map((file) => [file.name, file]));
const nameOf = (file) => relative(process.cwd(), file.name);
const testsOf = (file, status) => file.assertionResults.filter((test) => test.status === status);

if (wanted === 'failing')
  for (const file of latest.values()) {
    if (file.status === 'failed') console.log(nameOf(file));
  }
if (wanted === 'counts') {
  const count = (status) =>
    [...latest.values()].reduce((sum, file) => sum + testsOf(file, status).length, 0);
  // A file that could not be loaded has no tests and counts as one failure.
  const broken = [...latest.values()].filter(
    (file) => file.status === 'failed' && testsOf(file, 'failed').length === 0,
  );
  console.log(count('passed'), count('failed') + broken.length);
}
if (wanted === 'unstable')
  for (const file of runs[0] ?? []) {
    const again = latest.get(file.name);
    for (const test of again === file ? [] : testsOf(file, 'failed')) {
      const isPassed = testsOf(again, 'passed').some(({ fullName }) => fullName === test.fullName);
      if (isPassed) console.log(`unstable  ${nameOf(file)}: ${test.fullName}`);
    }
  }
