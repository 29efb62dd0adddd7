import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';

/** Its own group, which the end of the worker does not reach; it ends by itself at last. */
test('leaves a process', () => {
  const left = spawn('sleep', ['60'], { stdio: 'inherit', detached: true });
  expect(left.pid).toBeGreaterThan(0);
});
