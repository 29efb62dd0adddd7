/** R3: two clusters are cut from each other under writes, one is promoted during the cut, and fails back. */
import { setTimeout as delay } from 'node:timers/promises';
import { findBroken, startFaultProxy, startNats } from '@keelson/testkit';
import {
  attach,
  follow,
  generateRoot,
  startCluster,
  until,
  untilEqual,
} from '@keelson/testkit/replication-cluster';
import type { Chaos } from '../chaos.ts';
import { heldBy, prepare, Writers } from './written.ts';

const KIND = 'performance';
const MILLISECONDS = 1000;

const difference = (all: Iterable<string>, without: ReadonlySet<string>): readonly string[] =>
  [...all].filter((key) => !without.has(key));

export const partition: Chaos = {
  name: 'partition',
  promise:
    'R3 two clusters cut from each other for so many seconds under writes on both, the secondary promoted ' +
    'meanwhile, the primary following it afterwards: lost is what the primary acknowledged after the cut ' +
    'and no more before it than its status showed as lag; the same on both sides in the end',
  counts: { full: 180, short: 2 },
  isApart: true,
  run: async ({ count, say }) => {
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ jetstream: true }));
    const theirs = stack.use(await startNats({ jetstream: true }));
    const between = stack.use(await startFaultProxy(nats.port));
    const primary = await startCluster(nats.url, {
      KEELSON_CLUSTER_ADDRESS: `nats://127.0.0.1:${between.port}`,
    });
    stack.defer(() => primary.stop());
    const branch = await startCluster(theirs.url);
    stack.defer(() => branch.stop());
    await prepare(primary);
    await primary.v1('POST', `sys/replication/${KIND}/primary/enable`);
    await attach(KIND, primary, branch, 'branch');
    branch.token = await generateRoot(branch, primary.shares);
    await untilEqual(KIND, primary, branch);
    const broken: string[] = [];
    const cutMs = (count * MILLISECONDS) / 2;

    const before = new Writers(primary, 'before');
    await before.untilAcknowledged(50);
    // What the primary knows: it has all that was acknowledged, and heard how far the branch came.
    const mark = await before.ledger.mark(
      async () => (await primary.status(KIND)).secondaries[0].lag_entries,
    );
    between.stall();
    say('cut: the primary is written to, the branch cannot forward');
    const cutOff = new Writers(branch, 'cut-off');
    await delay(cutMs);
    await cutOff.stop();
    if (cutOff.ledger.acknowledged.length > 0)
      broken.push('the branch acknowledged writes that it could not forward');
    const promoted = await branch.v1('POST', `sys/replication/${KIND}/secondary/promote`, {
      force: true,
    });
    if (promoted.status !== 200)
      broken.push(`promote: ${promoted.status} ${JSON.stringify(promoted.body)}`);
    say('promoted: both are written to');
    const after = new Writers(branch, 'after');
    await after.untilAcknowledged(20);
    await delay(cutMs);
    await before.stop();
    between.pass();

    say('healed: the former primary steps back and follows');
    await primary.v1('POST', `sys/replication/${KIND}/primary/demote`);
    primary.token = await until(
      () => generateRoot(primary, primary.shares).catch(() => ''),
      (token) => token !== '',
    );
    await follow(KIND, branch, primary, 'former');
    await after.stop();
    const held = await heldBy(branch);
    broken.push(
      ...(await findBroken({ ledger: before.ledger, held, mark })),
      ...(await findBroken({
        ledger: after.ledger,
        held,
        roots: {
          former: [
            async () => (await branch.status(KIND))?.merkle_root as string,
            async () => (await primary.status(KIND))?.merkle_root as string,
          ],
        },
        comparisons: 600,
      })),
    );
    const here = await heldBy(primary);
    for (const key of [...difference(held, here), ...difference(here, held)])
      broken.push(`${key} is on one side only`);
    return {
      broken,
      figures: {
        'seconds of the cut': count,
        'acknowledged by the primary': before.ledger.acknowledged.length,
        'of them before the cut': mark.acknowledged,
        'lag reported then': mark.lagEntries,
        'lost with the failover': difference(before.ledger.acknowledged, held).length,
        'acknowledged by the promoted': after.ledger.acknowledged.length,
      },
    };
  },
};
