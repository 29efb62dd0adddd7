/** A child process that runs a primary or a secondary until it kills itself at a given step. */

import { put, resumeSecondary, startPrimary } from './cluster.ts';
import { killAfter } from './kill-at-step.ts';
import type { KillPlan } from './run-killed-cluster.ts';

const { natsUrl, file, record, steps, secondary } = JSON.parse(process.argv[2] ?? '') as KillPlan;

if (secondary === undefined) {
  const primary = await startPrimary(natsUrl, 'performance', file);
  primary.publish();
  killAfter(steps, record);
  for (;;)
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        const path = `shared/acknowledged/${crypto.randomUUID()}`;
        await put(primary.store, { [path]: 'kept' });
        process.stdout.write(`${path}\n`);
      }),
    );
}
const { identity, isCopied } = secondary;
const follower = await resumeSecondary(natsUrl, 'performance', identity, file);
if (isCopied) await follower.until(({ state }) => state === 'stream-wals');
killAfter(steps, record);
