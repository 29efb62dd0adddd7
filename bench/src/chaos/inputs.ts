/** Sends generated inputs, shrinks those that break the promise, and counts the outcomes. */
import fc from 'fast-check';
import type { ChaosContext, ChaosReport } from './chaos.ts';
import type { Memory } from './memory.ts';

const PROGRESS_EVERY = 50_000;
/** Number of smaller inputs to try for each failure. */
const MOST_SHRUNK = 2000;
/** After so many shrunk failures a run ends, as the others will mostly have the same causes. */
const MOST_BROKEN = 16;

/** The outcome of one input. */
export interface Outcome {
  /** Status, or another word for how it ended. */
  readonly kind: string;
  /** The problem, if there was one. */
  readonly broken?: string | undefined;
}

/** The time that a response took. */
export interface AnswerTime {
  readonly milliseconds: number;
  /**
   * Upper bound of the time spent working, for a system in the same process; waiting for a busy machine or a
   * slow disk is not judged.
   */
  readonly workMilliseconds: number;
}

export interface Inputs<T> {
  /** Prepares the system for one block of inputs. @returns its inputs, each generated just before it is sent */
  readonly begin: () => Promise<fc.Arbitrary<T>>;
  /** Number of inputs in a block. */
  readonly block: number;
  /** Number of inputs that are sent at the same time. */
  readonly connections?: number;
  readonly send: (input: T) => Promise<Outcome>;
  /** Description for the reader of the report. */
  readonly show: (input: T) => string;
  /** By work, unless given. @param again sends the same input once more */
  readonly isSlow?: (
    time: AnswerTime,
    again: () => Promise<AnswerTime>,
  ) => boolean | Promise<boolean>;
  readonly memory: Memory;
}

/**
 * Each block and connection has a seed of its own, counted from the seed of the run, so that a failure is
 * repeated by its block alone.
 */
export const tryInputs = async <T>(
  { count, seed, patienceMs, isOver, say }: ChaosContext,
  { begin, block: most, connections = 1, send, show, isSlow, memory }: Inputs<T>,
): Promise<ChaosReport> => {
  const judgeTime = isSlow ?? (({ workMilliseconds }) => workMilliseconds > patienceMs);
  const outcomes = new Map<string, number>();
  const broken: string[] = [];
  let slowestMs = 0;
  const sendTimed = async (input: T): Promise<AnswerTime & Outcome> => {
    const startedAt = performance.now();
    const cpuBefore = process.cpuUsage();
    const outcome = await send(input);
    const milliseconds = performance.now() - startedAt;
    const { user, system } = process.cpuUsage(cpuBefore);
    outcomes.set(outcome.kind, (outcomes.get(outcome.kind) ?? 0) + 1);
    slowestMs = Math.max(slowestMs, milliseconds);
    const workMilliseconds = Math.min(milliseconds, (user + system) / 1000);
    return { ...outcome, milliseconds, workMilliseconds };
  };
  const block = Math.min(most, Math.ceil(count / 2));
  const check = async (inputs: fc.Arbitrary<T>, ofBlock: number, runs: number): Promise<void> => {
    const property = fc.asyncProperty(fc.limitShrink(inputs, MOST_SHRUNK), async (input) => {
      const { broken: problem, ...time } = await sendTimed(input);
      if (problem !== undefined) throw new Error(problem);
      if (await judgeTime(time, () => sendTimed(input)))
        throw new Error(`${time.milliseconds.toFixed(0)} ms`);
    });
    const details = await fc.check(property, { numRuns: runs, seed: ofBlock });
    if (details.counterexample === null) return;
    const { counterexample, numShrinks, errorInstance } = details;
    broken.push(
      `${String(errorInstance)} for ${show(counterexample[0])}\n  shrunk ${numShrinks} times; ` +
        `repeat with --seed ${ofBlock} --count ${2 * block}`,
    );
  };
  let before: number | undefined;
  for (let sent = 0; sent < count && !isOver() && broken.length < MOST_BROKEN; sent += block) {
    if (sent >= count / 2) before ??= await memory.measure();
    if (sent % PROGRESS_EVERY < block && sent >= block)
      say(`${sent} sent, ${broken.length} broken`);
    const inputs = await begin();
    const runs = Math.ceil(Math.min(block, count - sent) / connections);
    const seeds = Array.from({ length: connections }, (_, connection) => seed + sent + connection);
    await Promise.all(seeds.map((one) => check(inputs, one, runs)));
  }
  const after = await memory.measure();
  const growth = after - (before ?? after);
  if (before !== undefined && memory.isGrown(before, after))
    broken.push(`${memory.name} grew by ${growth.toFixed(1)} MB`);
  return {
    broken,
    figures: {
      ...Object.fromEntries([...outcomes].sort(([one], [other]) => one.localeCompare(other))),
      'slowest, ms': slowestMs.toFixed(1),
      [`growth of ${memory.name}, second half, MB`]: growth.toFixed(1),
    },
  };
};
