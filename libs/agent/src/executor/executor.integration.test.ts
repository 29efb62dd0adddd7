/** The executor as a process in a sandbox whose folder is removed, as after a killed runner. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SOURCES, toSandboxCommand, writeSystemCallFilter } from '@keelson/sandbox';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import type { Task } from './task.ts';

const EXECUTOR = fileURLToPath(new URL('./executor.ts', import.meta.url));
const PHASE = { runId: 'run-one', token: 'of-the-run', attributes: { phase: 'plan' } };

// Node makes the folders above a folder again and again while the mount of one of them is there, and it is not.
test('an executor ends when its folder is gone', { timeout: 60_000 }, async () => {
  await using place = await temporaryDirectory();
  await chmod(place.path, 0o711);
  const own = join(place.path, 'own');
  await mkdir(own);
  const [program = '', ...args] = toSandboxCommand(
    {
      readOnly: SOURCES,
      writable: [own],
      workingFolder: own,
      environment: { PATH: '/usr/bin:/bin' },
      seconds: 60,
      processes: 64,
      temporaryBytes: 1024 * 1024,
      fileBytes: 1024 * 1024,
      processBytes: 1024 * 1024 * 1024,
      systemCallFilter: await writeSystemCallFilter(place.path),
    },
    ['sh', '-c', 'echo made; exec "$0" "$1"', process.execPath, EXECUTOR],
  );
  const executor = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  try {
    const ended = once(executor, 'exit');
    await once(createInterface({ input: executor.stdout }), 'line');
    await rm(own, { recursive: true });
    const task: Task = {
      program: {
        name: 'agent',
        prefix: 'KEELSON_AGENT_',
        unsafe: 'KEELSON_AGENT_EXECUTION=unsafe',
      },
      phase: PHASE as unknown as NonNullable<Task['phase']>,
      folder: own,
      address: 'http://127.0.0.1:2',
      host: '127.0.0.1:2',
      tool: 'terraform',
      environment: {},
      caFile: null,
      timeLimitSeconds: 60,
      outputLimitBytes: 1024,
    };
    executor.stdin.write(`${JSON.stringify(task)}\n`);
    expect((await ended)[0]).toBe(1);
  } finally {
    if (executor.pid !== undefined && executor.exitCode === null)
      process.kill(-executor.pid, 'SIGKILL');
  }
});
