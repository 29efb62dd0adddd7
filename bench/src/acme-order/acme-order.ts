import { temporaryDirectory } from '@keelson/testkit';
import { build } from 'hdr-histogram-js';
import type { Bench, Figure, LatencySummary } from '../bench.ts';
import { type BenchProcess, processUsage, startProcess } from '../child-process.ts';
import {
  type AcmeServer,
  type AcmeSurroundings,
  startAuthority,
  startNames,
  startPebble,
} from './acme-servers.ts';
import type { LoadResult } from './load-process.ts';

const CALLERS = 16;

interface Scale {
  readonly callers: number;
  readonly rounds: number;
  /**
   * Seconds of warm-up of clients and Keelson, once, because their code is compiled over some thousands of
   * orders.
   */
  readonly firstWarmupSeconds: number;
  /** Seconds of warm-up of each server before each round. */
  readonly warmupSeconds: number;
  readonly seconds: number;
}

const WHOLE: Scale = {
  callers: CALLERS,
  rounds: 5,
  firstWarmupSeconds: 15,
  warmupSeconds: 1,
  seconds: 3,
};
const QUICK: Scale = {
  callers: 2,
  rounds: 1,
  firstWarmupSeconds: 0.2,
  warmupSeconds: 0.2,
  seconds: 0.5,
};

/** How often Pebble may stop answering before the bench gives up. */
const MAX_STOPS = 20;
/** Short for Pebble, which sometimes hangs permanently; longer for Keelson, which may be slow when busy. */
const ANSWER_WITHIN_MS = { pebble: 5000, keelson: 60_000 };

/** Measurements of one server over all its rounds. */
class Tally {
  orders = 0;
  readonly #latencies = build({ lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000 });
  #seconds = 0;
  #serverMicroseconds = 0;
  #clientMicroseconds = 0;
  #peakMemoryMegabytes = 0;

  /**
   * Places orders for a time. Returns false when the server stopped answering; the orders before that count.
   */
  async measure({ pid }: AcmeServer, load: BenchProcess, seconds: number): Promise<boolean> {
    const [server, client] = [processUsage(pid), load.usage()];
    const result = await load.ask<LoadResult>('orders', seconds);
    const after = processUsage(pid);
    for (const latency of result.latenciesMicroseconds) this.#latencies.recordValue(latency);
    this.orders += result.latenciesMicroseconds.length;
    this.#seconds += result.seconds;
    this.#serverMicroseconds += after.cpuMicroseconds - server.cpuMicroseconds;
    this.#clientMicroseconds += load.usage().cpuMicroseconds - client.cpuMicroseconds;
    this.#peakMemoryMegabytes = Math.max(this.#peakMemoryMegabytes, after.peakMemoryMegabytes);
    return result.stopped === undefined;
  }

  get #latency(): LatencySummary {
    const at = (percentile: number): number =>
      this.#latencies.getValueAtPercentile(percentile) / 1000;
    return { p50: at(50), p99: at(99), p999: at(99.9) };
  }

  toFigure(name: string): Figure {
    return {
      name,
      value: this.orders / this.#seconds,
      unit: 'orders/s',
      latencyMilliseconds: this.#latency,
      cpuMicrosecondsPerOperation: this.#serverMicroseconds / this.orders,
      peakMemoryMegabytes: this.#peakMemoryMegabytes,
    };
  }

  toClientFigure(name: string): Figure {
    const milliseconds = this.#clientMicroseconds / this.orders / 1000;
    return { name, value: milliseconds, unit: 'ms CPU/order' };
  }
}

export const acmeOrder: Bench = {
  name: 'acme-order',
  claim: 'P4: full ACME orders, http-01, P-256, at >= 1.4 x Pebble with validation on',
  method:
    `${CALLERS} clients with an account each, over kept HTTPS connections from a process of their own that also ` +
    'answers the challenges. New order, authorization, challenge, finalize, certificate; polls (5 ms apart, then ' +
    'twice as long each) only where an answer says that something is under way, of an authorization not before ' +
    'its file was fetched. Both servers ask the same DNS server. Keelson answers after fsync; Pebble (no sleep, ' +
    'no refused nonces, no authorization used again) keeps everything in memory. After 15 s that warm clients and ' +
    'Keelson up, whose code is compiled while it runs, five rounds of 3 s each in turn, each after a second that ' +
    'does not count. Pebble is restarted for each: it slows down with the orders it has, and its locks can stop it for good (an ' +
    'authorization that is read, a new order and a certificate wait for one another). A round in which it stops ' +
    'counts up to the last order.',
  run: async ({ quick, say }) => {
    await using folder = await temporaryDirectory();
    const scale = quick ? QUICK : WHOLE;
    const { callers, rounds, warmupSeconds, seconds } = scale;
    const load = await startProcess(new URL('./load-process.ts', import.meta.url));
    const names = await startNames();
    const [keelsonTally, pebbleTally] = [new Tally(), new Tally()];
    /** Opens clients and warms up both sides; false when the server stopped answering. */
    const warmUp = async (
      { directory }: AcmeServer,
      answerWithinMs: number,
      warmup = warmupSeconds,
    ): Promise<boolean> => {
      await load.ask('open', { directory, callers, answerWithinMs });
      const { stopped } = await load.ask<LoadResult>('orders', warmup);
      return stopped === undefined;
    };

    let stops = 0;
    /** A round with a newly started Pebble; repeated when it stops before anything was measured. */
    const pebbleRound = async (surroundings: AcmeSurroundings): Promise<void> => {
      const pebble = await startPebble(surroundings);
      try {
        const isWarm = await warmUp(pebble, ANSWER_WITHIN_MS.pebble);
        if (isWarm && (await pebbleTally.measure(pebble, load, seconds))) return;
        stops += 1;
        say(`Pebble stopped answering (${stops})`);
        if (isWarm && pebbleTally.orders > 0) return;
        if (stops > MAX_STOPS) throw new Error('Pebble does not answer');
      } finally {
        await load.ask('close');
        await pebble.stop();
      }
      await pebbleRound(surroundings);
    };

    try {
      const httpPort = await load.ask<number>('serve');
      const surroundings = { folder: folder.path, dns: names.address, httpPort };
      const keelson = await startAuthority(surroundings);
      try {
        const keelsonRound = async (): Promise<void> => {
          const isWarm = await warmUp(keelson, ANSWER_WITHIN_MS.keelson);
          if (!isWarm || !(await keelsonTally.measure(keelson, load, seconds)))
            throw new Error('Keelson stopped answering');
        };
        await warmUp(keelson, ANSWER_WITHIN_MS.keelson, scale.firstWarmupSeconds);
        for (let round = 1; round <= rounds; round += 1) {
          say(`round ${round} of ${rounds}`);
          await pebbleRound(surroundings);
          await keelsonRound();
        }
      } finally {
        await keelson.stop();
      }
      const pebbleFigure = pebbleTally.toFigure(`Pebble (stopped answering ${stops} times)`);
      return [
        {
          ...keelsonTally.toFigure('order (target: at least 1.5)'),
          limit: { name: 'Pebble', value: pebbleFigure.value },
        },
        pebbleFigure,
        keelsonTally.toClientFigure('client of Keelson'),
        pebbleTally.toClientFigure('client of Pebble'),
      ];
    } finally {
      await load.stop();
      await names.stop();
    }
  },
};
