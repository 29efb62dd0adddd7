/** Runs in control groups, and what is left of them, printed as JSON. Executed in a machine that has such groups. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type ControlGroup, ControlGroupsUnavailable, openControlGroups } from '../control-groups.ts';

const run = promisify(execFile);
const MEBIBYTE = 1024 * 1024;
const LIMITS = { memoryBytes: 48 * MEBIBYTE, processes: 20 };

/** Starts a shell in the group, which executes the program once it is there. */
const startIn = async (group: ControlGroup, program: string) => {
  const shell = spawn('sh', ['-c', `read -r _ && { ${program}; }`], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  await group.add(shell.pid ?? 0);
  shell.stdin.end('\n');
  return shell;
};

const count = async (name: string): Promise<number> => {
  const found = await run('pgrep', ['-c', '-x', name]).catch(({ stdout }) => ({ stdout }));
  return Number(found.stdout);
};

const scenario = async () => {
  const groups = await openControlGroups();
  const own = (await readFile('/proc/self/cgroup', 'utf8')).trim();
  const folder = `/sys/fs/cgroup${own.slice('0::'.length, own.lastIndexOf('/'))}`;

  
  const memory = await groups.create('memory', LIMITS);
  // Each process has 20 MiB, less than the limit; all of them together have more.
  const hogs = await startIn(
    memory,
    "for _ in 1 2 3 4; do (perl -e 'vec($x, 20 << 20, 8) = 1; sleep' || echo ended) & done; wait",
  );
  await once(hogs.stdout, 'data');
  const hasRunOutOfMemory = await memory.hasRunOutOfMemory();
   await memory.end();

  
  const forks = await groups.create('forks', LIMITS);
  const bomb = await startIn(forks, 'for _ in $(seq 100); do sleep 1000 & done; wait');
  await once(bomb, 'exit');
  const sleeping = await count('sleep');
  const forksRanOut = await forks.hasRunOutOfMemory();
  await forks.end();

  
  const leaving = await groups.create('leaving', LIMITS);
  const left = await startIn(
    leaving,
    "setsid sh -c 'trap \"\" TERM HUP INT; echo started; exec tail -f /dev/null' & wait",
  );
  await once(left.stdout, 'data');
  left.kill('SIGKILL');
  await leaving.end();

  return {
    own: own.slice(own.lastIndexOf('/') + 1),
    hasRunOutOfMemory,
    hogsAfter: await count('perl'),
    sleeping: sleeping > 10 && sleeping <= LIMITS.processes,
    forksRanOut,
    sleepingAfter: await count('sleep'),
    leftAfter: await count('tail'),
    groups: (await readdir(folder, { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name),
  };
};

try {
  process.stdout.write(`${JSON.stringify(await scenario())}\n`);
} catch (error) {
  if (!(error instanceof ControlGroupsUnavailable)) throw error;
  process.stdout.write(`${JSON.stringify({ unavailable: error.message })}\n`);
}
