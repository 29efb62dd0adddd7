/** In a machine whose kernel has control groups of version 2 with all controllers. */
import { fileURLToPath } from 'node:url';
import { runInUserModeLinux } from '@keelson/testkit/user-mode-linux';
import { beforeAll, expect, test } from 'vitest';

const SCENARIO = fileURLToPath(new URL('./testdata/control-groups-scenario.ts', import.meta.url));
const HELD = {
  own: 'control-plane',
  hasRunOutOfMemory: true,
  hogsAfter: 0,
  sleeping: true,
  forksRanOut: false,
  sleepingAfter: 0,
  leftAfter: 0,
  groups: ['control-plane'],
};

/** The scenario as the only process of a group, with the controllers that are named. */
const inGroup = (group: string, before = '', as = '') => `
mkdir -p /sys/fs/cgroup/${group}
${before}
sh -euc 'echo $$ > /sys/fs/cgroup/${group}/cgroup.procs; exec ${as} ${process.execPath} ${SCENARIO}'
`;

const SCRIPT = [
  inGroup('bare'),
  "echo '+memory +pids' > /sys/fs/cgroup/cgroup.subtree_control",
  inGroup('service'),
  inGroup(
    'user',
    'chown -R 1000:1000 /sys/fs/cgroup/user',
    'setpriv --reuid=1000 --regid=1000 --clear-groups',
  ),
  inGroup('shared', 'sleep 1000 & echo $! > /sys/fs/cgroup/shared/cgroup.procs'),
].join('\n');

let results: readonly unknown[];
beforeAll(async () => {
  const lines = (await runInUserModeLinux(SCRIPT)).trim().split('\n');
  results = lines.map((line) => JSON.parse(line) as unknown);
});

test.for([
  [
    0,
    'without controllers',
    { unavailable: '/sys/fs/cgroup/bare has no controller for memory and pids' },
  ],
  [1, 'of a service of root', HELD],
  [2, 'of a service of an ordinary user', HELD],
  [
    3,
    'with a process of somebody else',
    { unavailable: 'processes of others are in /sys/fs/cgroup/shared' },
  ],
] as const)('%i: a group %s', ([index, , expected]) => {
  expect(results[index]).toEqual(expected);
});
