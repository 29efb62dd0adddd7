/** Set-up of every file of tests: the suite's report shows the logs of the servers of a test that fails. */
import { afterAll, afterEach } from 'vitest';
import { type ChildLog, childLogs, forgetEndedChildren } from './child-logs.ts';

declare module 'vitest' {
  interface TaskMeta {
    childLogs?: readonly ChildLog[];
  }
}

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
});
