/** The processes that count for a group. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { measureGroup } from './group-usage.ts';

/** Its first thread ends, and another one goes on with 64 MiB. */
const WITHOUT_FIRST_THREAD = `
import ctypes, os, threading
held = bytearray(b'x') * (64 << 20)
def go_on():
    while open(f'/proc/{os.getpid()}/stat').read().split()[2] != 'Z': pass
    print('alone', flush=True)
    threading.Event().wait()
threading.Thread(target=go_on).start()
ctypes.CDLL(None).pthread_exit(None)
`;

test('a process whose first thread has ended counts, with its memory', async () => {
  const child = spawn('python3', ['-c', WITHOUT_FIRST_THREAD], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const group = child.pid ?? 0;
  await once(child.stdout, 'data');
  const usage = await measureGroup(group);
  process.kill(-group, 'SIGKILL');
  await exited;
  expect(usage.processes).toBe(1);
  expect(usage.memoryBytes).toBeGreaterThan(64 * 1024 * 1024);
  expect((await measureGroup(group)).processes).toBe(0);
});
