/** R1: kills processes at random moments under writes, and compares the data with the responses given. */
import { setTimeout as delay } from 'node:timers/promises';
import type { AddressedCluster } from '@keelson/testkit/replication-cluster';
import type { ChaosContext, ChaosReport } from '../chaos.ts';
import { Random } from '../random.ts';
import { ALL_KINDS, findBrokenPromises, Writers } from './written.ts';

const MOST_MS_BEFORE = 1500;
/** Pause between writes, which bounds their number, as every write is checked at the end. */
const PAUSE_MS = 5;

export interface Victim {
  readonly name: string;
  /** Whether writers may notice: they send to it, or it serves their requests. */
  readonly isNoticed: boolean;
  /** Kills it with -9 and starts it again. */
  readonly kill: () => Promise<void>;
}

/** Kills each in turn, until so many were. @param secondary a DR secondary of `primary` */
export const killInTurn = async (
  { count, seed, isOver, say }: ChaosContext,
  primary: AddressedCluster,
  secondary: AddressedCluster,
  victims: readonly Victim[],
): Promise<ChaosReport> => {
  const random = new Random(seed);
  const writers = new Writers(primary, 'kill', { kinds: ALL_KINDS, pauseMs: PAUSE_MS });
  writers.isDisturbed = false;
  const broken: string[] = [];
  const times = new Map(victims.map(({ name }) => [name, 0]));
  let slowestMs = 0;
  for (let round = 0; round < count && !isOver(); round += 1) {
    const victim = victims[round % victims.length];
    if (victim === undefined) break;
    await delay(random.below(MOST_MS_BEFORE));
    say(`${round + 1}: ${victim.name} is killed`);
    writers.isDisturbed = victim.isNoticed;
    await victim.kill();
    times.set(victim.name, (times.get(victim.name) ?? 0) + 1);
    const recoveredMs = await writers.untilAcknowledged(12);
    if (recoveredMs === undefined) {
      broken.push(`no writes after ${victim.name} was killed`);
      break;
    }
    slowestMs = Math.max(slowestMs, recoveredMs);
    writers.isDisturbed = false;
  }
  await writers.stop();
  const { ledger, unclear } = writers;
  say('comparing');
  broken.push(...(await findBrokenPromises(writers, primary, secondary)));
  return {
    broken,
    figures: {
      ...Object.fromEntries([...times].map(([name, often]) => [`kills of ${name}`, often])),
      'writes acknowledged': ledger.acknowledged.length,
      'writes answered with 503 and Retry-After': writers.retriable,
      'writes answered with another 5xx': [...unclear.values()].reduce((sum, one) => sum + one, 0),
      'writes with an unknown outcome': ledger.unknown.length,
      'slowest until 12 more were acknowledged, ms': Math.round(slowestMs),
    },
  };
};
