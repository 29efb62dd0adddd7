/**
 * Executes one phase, in a separate process and under a separate user. It has the credentials of
 * its run and no others. When its standard input ends, the program that has started it was stopped or has crashed, and
 * the phase ends as errored.
 */

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { guarded } from '@keelson/errors';
import { openWays } from '@keelson/sandbox/inside';
import { ControlPlane } from '../control-plane.ts';
import { performPhase } from '../phase.ts';
import { recoverPhases } from '../recovery.ts';
import { Interruption, LIMIT_GRACE_MS } from '../terraform.ts';
import { trustAuthority, trustInProcess } from '../trust.ts';
import { phaseFolder } from '../work-folder.ts';
import { PART_IS_OVER, type Task } from './task.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const receiveTask = (onEnd: () => void): Promise<Task> =>
  new Promise((resolve, reject) => {
    const lines = createInterface({ input: process.stdin });
    lines.once(
      'line',
      guarded('agent/executor', (line) => {
        resolve(JSON.parse(line) as Task);
        lines.once('close', onEnd);
      }),
    );
    lines.once('close', () => reject(new Error('the input ended before it gave a phase')));
  });

/** @returns the exit code */
const execute = async (): Promise<number> => {
  process.umask(0o077);
  const interruption = new Interruption();
  const task: Task = await receiveTask(() =>
    interruption.exceed(
      `The ${task.program.name} was stopped while it worked on this run.`,
      LIMIT_GRACE_MS,
    ),
  );
  const { program, phase, folder, timeLimitSeconds, outputLimitBytes } = task;
  if (task.way !== undefined) await openWays(task.way);
  const phases = join(folder, 'phases');
  if (phase === undefined) {
    // Without a file: the disk may be full.
    if (task.caFile !== null) trustInProcess(task.caFile);
    await recoverPhases(phases, say, task.environment);
    return 0;
  }
  // With `recursive` it would be tried for ever where the folder was removed, and is still mounted.
  if (!existsSync(phases)) mkdirSync(phases);
  const timer = setTimeout(
    () =>
      interruption.exceed(
        `The ${phase.attributes.phase} was interrupted after ${timeLimitSeconds} seconds, the time limit of the ${program.name} (${program.prefix}TIME_LIMIT_SECONDS).`,
        LIMIT_GRACE_MS,
      ),
    timeLimitSeconds * 1000,
  );
  const parts = {
    part: task.part,
    config: { address: `https://${task.host}`, terraform: task.tool, versionsFolder: undefined },
    controlPlane: new ControlPlane(task.address, ''),
    environment: task.environment,
    caBundleFile: task.caFile === null ? undefined : trustAuthority(task.caFile, folder),
    outputLimits: {
      logBytes: outputLimitBytes,
      lastWords: `The ${phase.attributes.phase} was interrupted after ${outputLimitBytes} bytes of output, the limit of the ${program.name}.`,
    },
  };
  const isOver = await performPhase(parts, phase, phaseFolder(folder, phase.runId), interruption);
  clearTimeout(timer);
  return isOver ? 0 : PART_IS_OVER;
};

process.exit(await execute());
