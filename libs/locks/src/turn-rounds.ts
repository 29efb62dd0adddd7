/**
 * Rounds of work that waits in records, by owner. Owners take turns, and each has a bounded part of the places, so
 * that one whose work is slow, or who has much of it, delays its own only.
 */
import { type Clock, pause } from '@keelson/clock';
import type { RoundOptions } from './periodic-work.ts';

/** Other work may become due while a round waits. */
const LOOK_AGAIN_MS = 1000;

/** Returns the next due work of an owner, as a function that does it; undefined when no more of it is due. */
export type NextWork = () => Promise<(() => Promise<unknown>) | undefined>;

export interface TurnRounds {
  readonly clock: Clock;
  /** Work under way in this replica. */
  readonly atOnce: number;
  /** The part of one owner. */
  readonly atOnceOfOwner: number;
  /** Owners with waiting work. Read again by each round. */
  readonly find: (options: RoundOptions) => Promise<ReadonlyMap<string, NextWork>>;
}

/** Owners that had no turn come first; when all have had one, each has another. */
const inTurn = (owners: Iterable<string>, turns: Set<string>): readonly string[] => {
  const all = [...owners];
  if (all.every((owner) => turns.has(owner))) turns.clear();
  return all.toSorted((a, b) => Number(turns.has(a)) - Number(turns.has(b)));
};

/**
 * @returns a round that starts due work until no more is found, or for a second, and does not wait for what takes
 * longer; false if there was none. It fails like the work: after the loss of the fence, this replica must
 * acquire the lease again.
 */
export const createTurnRounds = ({
  clock,
  atOnce,
  atOnceOfOwner,
  find,
}: TurnRounds): ((options: RoundOptions) => Promise<boolean>) => {
  const turns = new Set<string>();
  /** The owner of each. */
  const underWay = new Map<Promise<void>, string>();
  /** Work whose outcome was not recorded, so that it is still due. */
  const failures: Promise<unknown>[] = [];
  /** Rejects if work has failed since the last call. */
  const reportFailure = async (): Promise<void> => {
    await failures.splice(0)[0];
  };
  const countOf = (owner: string): number =>
    [...underWay.values()].filter((other) => other === owner).length;
  const start = (owner: string, work: () => Promise<unknown>): void => {
    const outcome = work();
    const ended: Promise<void> = outcome.then(
      () => void underWay.delete(ended),
      () => {
        underWay.delete(ended);
        failures.push(outcome);
      },
    );
    underWay.set(ended, owner);
  };
  /** Starts at most one piece for each owner. @returns whether it started any */
  const startOneOfEach = async (waiting: Map<string, NextWork>): Promise<boolean> => {
    let hasStarted = false;
    for (const owner of inTurn(waiting.keys(), turns)) {
      if (underWay.size >= atOnce) return false;
      if (countOf(owner) >= atOnceOfOwner) continue;
      const work = await waiting.get(owner)?.();
      if (work === undefined) {
        waiting.delete(owner);
        continue;
      }
      turns.add(owner);
      start(owner, work);
      hasStarted = true;
    }
    return hasStarted;
  };
  return async (options) => {
    const waiting = new Map(await find(options));
    const ending = new AbortController();
    const later = pause(clock, LOOK_AGAIN_MS, ending.signal).then(() => waiting.clear());
    let hasWorked = false;
    try {
      do {
        while (await startOneOfEach(waiting)) hasWorked = true;
        if (underWay.size > 0) {
          hasWorked = true;
          await Promise.race([...underWay.keys(), later]);
        }
        await reportFailure();
      } while (waiting.size > 0);
      return hasWorked;
    } finally {
      ending.abort();
    }
  };
};
