/** The latency of a polite tenant, alone and while a greedy one asks. */
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext, Figure } from '../bench.ts';
import type { startProcess } from '../child-process.ts';
import type { HttpLoad } from '../http-load.ts';
import { measureLatency, nextMillisecond } from '../load.ts';
import type { GreedyLoad } from './greedy-process.ts';

export const GREEDY_CONNECTIONS = 64;
export const POLITE_PER_SECOND = 10;
/** Until the requests of the greedy tenant wait. */
const LEAD_MS = 500;

interface Tenant {
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

export interface Tenants {
  readonly name: string;
  readonly polite: Tenant;
  readonly greedy: Omit<HttpLoad, 'url' | 'connections'>;
}

/** The requests of the greedy tenant to one server. */
export const loadOf = (url: string, { greedy }: Tenants): HttpLoad => ({
  url,
  ...greedy,
  connections: GREEDY_CONNECTIONS,
  mayBeRefused: true,
});

/** @param seconds of each measurement */
export const createMeasure = (
  greedyProcess: Awaited<ReturnType<typeof startProcess>>,
  seconds: number,
  say: BenchContext['say'],
) => {
  const p99Of = async (url: string, { paths, headers }: Tenant): Promise<number> => {
    let turn = 0;
    const ask = async (): Promise<void> => {
      const path = paths[turn++ % paths.length] ?? '';
      const answer = await fetch(url + path, { headers });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    };
    const latency = await measureLatency(ask, POLITE_PER_SECOND, seconds, nextMillisecond);
    return latency.p99;
  };
  /** The polite tenant of one server while the greedy one asks that server, or another. */
  const beside = async (url: string, polite: Tenant, greedy: HttpLoad) => {
    const greed = greedyProcess.ask<{ perSecond: number }>('ask', {
      load: greedy,
      seconds: seconds + (2 * LEAD_MS) / 1000,
    } satisfies GreedyLoad);
    const [{ perSecond }, p99] = await Promise.all([
      greed,
      pause(LEAD_MS).then(() => p99Of(url, polite)),
    ]);
    return { p99, perSecond };
  };
  /** @param elsewhere the load at another installation on this machine */
  return async (
    url: string,
    { name, polite }: Tenants,
    greedy: HttpLoad,
    elsewhere?: HttpLoad,
  ): Promise<Figure[]> => {
    say(name);
    await p99Of(url, polite);
    const alone = await p99Of(url, polite);
    const apart = elsewhere && (await beside(url, polite, elsewhere));
    const { p99, perSecond } = await beside(url, polite, greedy);
    return [
      { name, value: p99, unit: 'ms p99', limit: { name: 'ms alone', value: alone } },
      ...(apart === undefined
        ? []
        : [
            {
              name: 'the greedy one at another installation',
              value: apart.p99,
              unit: 'ms p99',
            },
          ]),
      { name: 'the greedy one meanwhile', value: perSecond, unit: '/s' },
    ];
  };
};
