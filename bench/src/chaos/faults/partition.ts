/** R3: two clusters are disconnected during writes, one is promoted, and both fail back. */
import { setTimeout as delay } from 'node:timers/promises';
import { findBroken, startFaultProxy, startNats } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  follow,
  generateOperationToken,
  generateRoot,
  type Kind,
  startCluster,
  until,
  untilEqual,
} from '@keelson/testkit/replication-cluster';
import type { Chaos, ChaosContext, ChaosReport } from '../chaos.ts';
import { heldBy, prepare, SHARED_KINDS, Writers } from './written.ts';

const MILLISECONDS = 1000;
const COMPARISONS = 1200;
/** Shorter cuts refuse connections, so that no request waits for its timeout. */
const STALLED_FROM_SECONDS = 20;
/** Pause between writes, which leaves CPU time for the clusters under test. */
const WRITING = { kinds: SHARED_KINDS, pauseMs: 20 };

const difference = (all: Iterable<string>, without: ReadonlySet<string>): readonly string[] =>
  [...all].filter((key) => !without.has(key));

/** The steps of one kind of secondary. */
interface Steps {
  /** Actions after the secondary was attached: generates its own root token, if it has one. */
  readonly joined: (primary: Cluster, branch: Cluster) => Promise<void>;
  /** @returns body of `secondary/promote` */
  readonly promotion: (cluster: Cluster, shares: readonly string[]) => Promise<object>;
  readonly promoted: (primary: Cluster, branch: Cluster) => void;
  /** Makes the former primary, which was demoted, follow the new one. */
  readonly follow: (leader: Cluster, former: Cluster) => Promise<void>;
  /** The data of the former primary; of a DR secondary only after it leads again. */
  readonly heldByFormer: (leader: Cluster, former: Cluster) => Promise<ReadonlySet<string>>;
}

const STEPS: Readonly<Record<Kind, Steps>> = {
  performance: {
    joined: async (primary, branch) => {
      branch.token = await generateRoot(branch, primary.shares);
    },
    promotion: async () => ({}),
    promoted: () => undefined,
    follow: async (leader, former) => {
      former.token = await until(
        () => generateRoot(former, former.shares).catch(() => ''),
        (token) => token !== '',
      );
      await follow('performance', leader, former, 'former');
    },
    heldByFormer: (_, former) => heldBy(former),
  },
  dr: {
    joined: async () => undefined,
    promotion: async (cluster, shares) => ({
      dr_operation_token: await generateOperationToken(cluster, shares),
    }),
    promoted: (primary, branch) => {
      branch.token = primary.token;
    },
    follow: async (leader, former) => {
      const token = await generateOperationToken(former, former.shares);
      await follow('dr', leader, former, 'former', token);
    },
    heldByFormer: async (leader, former) => {
      const body = await STEPS.dr.promotion(former, former.shares);
      await leader.v1('POST', 'sys/replication/dr/primary/demote');
      await until(
        () => former.v1('POST', 'sys/replication/dr/secondary/promote', body),
        ({ status }) => status === 200,
      );
      return heldBy(former);
    },
  },
};

const run = async (kind: Kind, { count, say }: ChaosContext): Promise<ChaosReport> => {
  await using stack = new AsyncDisposableStack();
  const steps = STEPS[kind];
  const base = `sys/replication/${kind}`;
  const nats = stack.use(await startNats({ jetstream: true }));
  const theirs = stack.use(await startNats({ jetstream: true }));
  const between = stack.use(await startFaultProxy(nats.port));
  const [primary, branch] = await Promise.all([
    startCluster(nats.url, { KEELSON_CLUSTER_ADDRESS: `nats://127.0.0.1:${between.port}` }),
    startCluster(theirs.url),
  ]);
  stack.defer(() => primary.stop());
  stack.defer(() => branch.stop());
  await prepare(primary);
  await primary.v1('POST', `${base}/primary/enable`);
  await attach(kind, primary, branch, 'branch');
  await steps.joined(primary, branch);
  await untilEqual(kind, primary, branch);
  const broken: string[] = [];
  const cutMs = (count * MILLISECONDS) / 2;

  const before = new Writers(primary, 'before', WRITING);
  await before.untilAcknowledged(50);
  // The primary has everything acknowledged, and knows the branch's position.
  const mark = await before.ledger.mark(
    async () => (await primary.status(kind)).secondaries[0].lag_entries,
  );
  if (count < STALLED_FROM_SECONDS) between.cut();
  else between.stall();
  say(`${kind}: cut, the primary is written to, the branch is asked to`);
  const cutOff = new Writers(branch, 'cut-off', WRITING);
  await delay(cutMs);
  await cutOff.stop();
  if (cutOff.ledger.acknowledged.length > 0)
    broken.push('the branch acknowledged writes that it could not forward');
  say('is promoted');
  const promoted = await branch.v1('POST', `${base}/secondary/promote`, {
    ...(await steps.promotion(branch, primary.shares)),
    force: true,
  });
  if (promoted.status !== 200)
    broken.push(`promote: ${promoted.status} ${JSON.stringify(promoted.body)}`);
  steps.promoted(primary, branch);
  say('promoted: both are written to');
  const after = new Writers(branch, 'after', WRITING);
  await after.untilAcknowledged(20);
  await delay(cutMs);
  await before.stop();
  between.pass();

  say('healed: the former primary steps back and follows');
  await primary.v1('POST', `${base}/primary/demote`);
  await steps.follow(branch, primary);
  await after.stop();
  say('compares');
  const modes = [(await branch.status(kind)).mode, (await primary.status(kind)).mode];
  if (modes.join() !== 'primary,secondary') broken.push(`split: the clusters are ${modes.join()}`);
  const held = await heldBy(branch);
  broken.push(
    ...(await findBroken({ ledger: before.ledger, held, mark })),
    ...(await findBroken({ ledger: cutOff.ledger, held })),
    ...(await findBroken({
      ledger: after.ledger,
      held,
      roots: {
        'the former primary': [
          async () => (await branch.status(kind))?.merkle_root as string,
          async () => (await primary.status(kind))?.merkle_root as string,
        ],
      },
      comparisons: COMPARISONS,
    })),
  );
  const here = await steps.heldByFormer(branch, primary);
  for (const key of [...difference(held, here), ...difference(here, held)])
    broken.push(`${key} is on one side only`);
  return {
    broken,
    figures: {
      [`${kind}: acknowledged by the primary`]: before.ledger.acknowledged.length,
      [`${kind}: of them before the cut`]: mark.acknowledged,
      [`${kind}: lag reported then`]: mark.lagEntries,
      [`${kind}: lost with the failover`]: difference(before.ledger.acknowledged, held).length,
      [`${kind}: acknowledged by the promoted`]: after.ledger.acknowledged.length,
    },
  };
};

export const partition: Chaos = {
  name: 'partition',
  promise:
    'R3 two clusters cut from each other for so many seconds under writes on both, the secondary promoted ' +
    'meanwhile, the primary following it afterwards, for a performance and for a DR secondary: lost is ' +
    'what the primary acknowledged after the cut and no more before it than its status showed as lag; one ' +
    'leads, and both hold the same in the end',
  unit: 'seconds',
  counts: { full: 180, short: 1 },
  run: async (context) => {
    const performance = await run('performance', context);
    const dr = await run('dr', context);
    return {
      broken: [...performance.broken, ...dr.broken],
      figures: { ...performance.figures, ...dr.figures },
    };
  },
};
