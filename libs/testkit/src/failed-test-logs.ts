/**
 * Set-up of every file of tests: the suite's report shows the logs of the servers of a test that fails, and the CPU
 * time of every file.
 */
import { readFileSync } from 'node:fs';
import { afterAll, afterEach } from 'vitest';
import { type ChildLog, childLogs, forgetEndedChildren } from './child-logs.ts';

declare module 'vitest' {
  interface TaskMeta {
    childLogs?: readonly ChildLog[];
    /** The CPU time of the process in which the file has run, since its start. */
    cpu?: { readonly pid: number; readonly seconds: number };
  }
}

const TICKS_PER_SECOND = 100;

/** The CPU time of this process, its ended children and theirs: the fields utime to cstime of proc_pid_stat(5). */
const usedCpuSeconds = (): number => {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
};

afterEach(({ task }) => {
  if (task.result?.state === 'fail') task.meta.childLogs = childLogs();
  forgetEndedChildren();
});
// A preparation that fails belongs to its file.
// oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know which fixtures the hook needs
afterAll(({}, suite) => {
  const hasFailed = [suite, ...suite.tasks].some(({ result }) => result?.state === 'fail');
  if (hasFailed) suite.meta.childLogs = childLogs();
  forgetEndedChildren();
  suite.meta.cpu = { pid: process.pid, seconds: usedCpuSeconds() };
});
