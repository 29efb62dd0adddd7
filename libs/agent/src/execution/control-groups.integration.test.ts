/** Runs in control groups, in a machine whose kernel has those of version 2 with all controllers. */
import { fileURLToPath } from 'node:url';
import { runInUserModeLinux } from '@keelson/testkit/user-mode-linux';
import { expect, test } from 'vitest';

const SCENARIO = fileURLToPath(new URL('./testdata/control-groups-scenario.ts', import.meta.url));

test.for(['sandbox', 'unsafe'])(
  'a run (%s) has a part of the memory, and leaves no process',
  { timeout: 180_000 },
  async (form) => {
    const output = await runInUserModeLinux(`
echo '+memory +pids' > /sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/agent
sh -euc 'echo $$ > /sys/fs/cgroup/agent/cgroup.procs; exec ${process.execPath} ${SCENARIO} ${form}'
find /sys/fs/cgroup/agent -mindepth 1 -type d
`);
    const [result = '', ...groups] = output.trim().split('\n');
    expect(JSON.parse(result)).toEqual({ log: true, left: '', said: [] });
    expect(groups).toEqual(['/sys/fs/cgroup/agent/control-plane']);
  },
);
