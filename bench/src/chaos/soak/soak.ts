/** R7: mixed load for a long time, to find anything that grows and should not. */
import { setTimeout as delay } from 'node:timers/promises';
import { startNats } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateRoot,
  startCluster,
  untilEqual,
} from '@keelson/testkit/replication-cluster';
import type { Chaos, ChaosContext, ChaosReport } from '../chaos.ts';
import { INSPECTED, type Inspector, inspect, type Sight } from '../inspected.ts';
import { MixedLoad, prepareLoad } from './mixed-load.ts';
import { type Sample, slopeOf } from './slope.ts';

const KIND = 'performance';
const MILLISECONDS = 1000;
/**
 * The smallest possible setting, so that store caches fill within minutes even on a slow machine, and growth
 * after that is unbounded.
 */
const STORE_CACHE = { KEELSON_STORE_CACHE_BYTES: String(1024 * 1024) };
/** Caches and compiled code settle in the first part of the time, which is not judged. */
const SETTLING_PART = 1 / 3;
const SAMPLES = 180;
const LEAST_SAMPLE_MS = 500;
/** In a shorter run what grows may be caches that are not full yet. */
const JUDGED_FROM_SECONDS = 1200;
/** Allowed increase while a line is judged, whatever its slope: limited caches fill slowly. */
const NOISE_MEGABYTES = { liveMegabytes: 2, anonymousMegabytes: 48 } as const;
/** Timers and sockets that come and go by themselves; one leaked in a thousand requests is more. */
const NOISE_RESOURCES = 24;
const SHOWN_REFUSALS = 20;

type Memory = keyof typeof NOISE_MEGABYTES;

class Watched {
  readonly name: string;
  readonly #inspector: Inspector;
  readonly #samples: (Sight & { readonly atSeconds: number })[] = [];

  constructor(name: string, inspector: Inspector) {
    this.name = name;
    this.#inspector = inspector;
  }

  async sample(atSeconds: number): Promise<void> {
    this.#samples.push({ ...(await this.#inspector.look()), atSeconds });
  }

  look(): Promise<Sight> {
    return this.#inspector.look();
  }

  close(): void {
    this.#inspector.close();
  }

  judge(
    memory: Memory,
    isLongEnough: boolean,
  ): { readonly figure: string; readonly broken: readonly string[] } {
    const values = this.#samples.map((sight): Sample => ({ ...sight, value: sight[memory] }));
    const slope = slopeOf(values);
    if (slope === undefined) return { figure: 'too short to tell', broken: [] };
    const { perHour, within, gained } = slope;
    const last = values.at(-1)?.value ?? 0;
    const figure = `${perHour.toFixed(1)} ± ${within.toFixed(1)} MB/h, ${last.toFixed(0)} MB at the end`;
    const isGrowing = isLongEnough && perHour - within > 0 && gained > NOISE_MEGABYTES[memory];
    return { figure, broken: isGrowing ? [`${memory} of ${this.name} grows: ${figure}`] : [] };
  }
}

const sum = (resources: Sight['resources']): number =>
  [...resources.values()].reduce((all, count) => all + count, 0);

const findLeaks = (name: string, before: Sight, after: Sight): readonly string[] =>
  (
    [
      ['open files', before.openFiles, after.openFiles],
      ['threads', before.threads, after.threads],
      ['timers and handles', sum(before.resources), sum(after.resources)],
    ] as const
  )
    .filter(([, first, last]) => last - first > NOISE_RESOURCES)
    .map(([what, first, last]) => `${name} has ${last} ${what}, before ${first}`);

const run = async (
  { count, say }: ChaosContext,
  primary: Cluster,
  secondary: Cluster,
): Promise<ChaosReport> => {
  const watched = [
    new Watched('the primary', await inspect(primary.process())),
    new Watched('the secondary', await inspect(secondary.process())),
  ];
  const startedAt = performance.now();
  const elapsed = (): number => (performance.now() - startedAt) / MILLISECONDS;
  const broken: string[] = [];
  const times = new Map<string, number>();
  const load = async (name: string, during: () => Promise<void>): Promise<readonly Sight[]> => {
    const load = new MixedLoad(primary, secondary, name);
    await during();
    await load.stop();
    for (const [what, often] of load.times) times.set(what, (times.get(what) ?? 0) + often);
    broken.push(...load.refused.slice(0, SHOWN_REFUSALS));
    await untilEqual(KIND, primary, secondary);
    return Promise.all(watched.map((one) => one.look()));
  };
  say('settling');
  const before = await load('settling', () => delay(count * SETTLING_PART * MILLISECONDS));
  say('sampling');
  const everyMs = Math.max(LEAST_SAMPLE_MS, (count * MILLISECONDS) / SAMPLES);
  const after = await load('sampling', async () => {
    do {
      await delay(everyMs);
      for (const one of watched) await one.sample(elapsed());
    } while (elapsed() < count);
  });
  const figures: Record<string, string | number> = Object.fromEntries(times);
  for (const [index, one] of watched.entries()) {
    const [first, last] = [before[index], after[index]];
    if (first === undefined || last === undefined) continue;
    const live = one.judge('liveMegabytes', count >= JUDGED_FROM_SECONDS);
    const anonymous = one.judge('anonymousMegabytes', count >= JUDGED_FROM_SECONDS);
    broken.push(...live.broken, ...anonymous.broken, ...findLeaks(one.name, first, last));
    figures[`live memory of ${one.name}`] = live.figure;
    figures[`anonymous memory of ${one.name}`] = anonymous.figure;
    figures[`files, threads, handles of ${one.name}`] =
      `${first.openFiles}, ${first.threads}, ${sum(first.resources)} → ` +
      `${last.openFiles}, ${last.threads}, ${sum(last.resources)}`;
    one.close();
  }
  return { broken, figures };
};

export const soak: Chaos = {
  name: 'soak',
  promise:
    'R7 certificates, workspaces, messages, tokens and replication for so many seconds: nothing refused, ' +
    'no slope of memory after collection that is above zero with 95 % confidence, no timer, handle, file ' +
    'or thread more than before',
  unit: 'seconds',
  counts: { full: 1800, short: 1 },
  run: async (context) => {
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ jetstream: true }));
    const [primary, secondary] = await Promise.all([
      startCluster(nats.url, { ...INSPECTED, ...STORE_CACHE }),
      startCluster(nats.url, { ...INSPECTED, ...STORE_CACHE }),
    ]);
    stack.defer(() => primary.stop());
    stack.defer(() => secondary.stop());
    await prepareLoad(primary);
    await primary.v1('POST', `sys/replication/${KIND}/primary/enable`);
    await attach(KIND, primary, secondary, 'secondary');
    secondary.token = await generateRoot(secondary, primary.shares);
    return await run(context, primary, secondary);
  },
};
