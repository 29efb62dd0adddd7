/** The processes of a phase's user that try to outlive their phase. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { endProcessesOf } from './end-processes.ts';

/** A user that has no other processes. */
const OWNER = { uid: 199_999_001, gid: 199_999_001 };

/** Its processes without the zombies. */
const processesOf = (uid: number): readonly string[] =>
  execFileSync('ps', ['-A', '-o', 'uid=,stat=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.trim().startsWith(`${uid} `) && !/^ *\d+ Z/.test(line));

test.runIf(process.getuid?.() === 0).for([
  ['sleeps in a session of its own', 'setsid sleep 600 & echo; wait'],
  ['forks all the time', 'next() { next & }; for i in 1 2 3 4; do next; done; echo; wait'],
  ['ends what would end it', 'echo; while :; do kill -9 -1; done'],
] as const)('no process is left when one %s', async ([, script]) => {
  const child = spawn('/bin/sh', ['-c', script], {
    ...OWNER,
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  await endProcessesOf(OWNER, () => undefined);
  expect(processesOf(OWNER.uid)).toEqual([]);
});
