/**
 * Requests of this gateway by minute, which sys keeps for the history of the cluster. A request costs an addition in
 * memory; once a minute the gateway sends what it has counted, if there was any request.
 */
import { type Clock, pause } from '@keelson/clock';
import type { EdgeService } from '@keelson/edge';
import { DURATION_BOUNDS_MS, durationSlot } from '@keelson/history';
import type { AccessDefinition } from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';

const SEND_EVERY_MS = 60_000;
const MINUTE_MS = 60_000;
/** Minutes that wait while sys does not answer; older ones are given up. */
const MAX_WAITING = 60;
/** Probes and live streams: nobody waits for the end of their answers. */
const NOT_COUNTED: ReadonlySet<string> = new Set(['own', 'live']);
const FIRST_FAULT = 500;

interface Minute {
  requests: number;
  errors: number;
  readonly durations: number[];
}

export interface RequestCounter {
  /** @param group as in the metrics */
  count(group: string, status: number, seconds: number): void;
  /** Sends what was counted; it is sent again later if sys does not answer. */
  send(signal?: AbortSignal): Promise<void>;
  /** Sends once a minute until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const newMinute = (): Minute => ({
  requests: 0,
  errors: 0,
  durations: Array.from({ length: DURATION_BOUNDS_MS.length + 1 }, () => 0),
});

export const createRequestCounter = (
  access: Pick<RpcService<typeof AccessDefinition>, 'countRequests'>,
  clock: Clock,
): RequestCounter => {
  let minutes = new Map<number, Minute>();

  const minuteAt = (minuteMs: number): Minute => {
    const known = minutes.get(minuteMs);
    if (known !== undefined) return known;
    const [oldest] = minutes.keys();
    if (minutes.size >= MAX_WAITING && oldest !== undefined) minutes.delete(oldest);
    const opened = newMinute();
    minutes.set(minuteMs, opened);
    return opened;
  };

  const putBack = (unsent: ReadonlyMap<number, Minute>): void => {
    const newer = minutes;
    minutes = new Map([...unsent].slice(-MAX_WAITING));
    for (const [minuteMs, { requests, errors, durations }] of newer) {
      const minute = minuteAt(minuteMs);
      minute.requests += requests;
      minute.errors += errors;
      for (const [slot, count] of durations.entries())
        minute.durations[slot] = (minute.durations[slot] ?? 0) + count;
    }
  };

  const send = async (signal?: AbortSignal): Promise<void> => {
    if (minutes.size === 0) return;
    const sent = minutes;
    minutes = new Map();
    try {
      await access.countRequests(
        {
          minutes: [...sent].map(([minuteMs, minute]) => ({
            minuteMs: BigInt(minuteMs),
            ...minute,
          })),
        },
        { ...(signal && { signal }) },
      );
    } catch (error) {
      putBack(sent);
      throw error;
    }
  };

  return {
    count: (group, status, seconds) => {
      if (NOT_COUNTED.has(group)) return;
      const minute = minuteAt(Math.floor(clock.nowMs() / MINUTE_MS) * MINUTE_MS);
      minute.requests += 1;
      if (status >= FIRST_FAULT) minute.errors += 1;
      const slot = durationSlot(seconds * 1000);
      minute.durations[slot] = (minute.durations[slot] ?? 0) + 1;
    },
    send,
    run: async (signal) => {
      while (!signal.aborted) {
        await pause(clock, SEND_EVERY_MS, signal);
        if (!signal.aborted) await send(signal);
      }
    },
  };
};

/** sys, which gets what this gateway has counted before it answers with the history of the cluster. */
export const withRequestCounts = (
  sys: EdgeService,
  counter: Pick<RequestCounter, 'send'>,
): EdgeService => ({
  ...sys,
  handle: async (request) => {
    const { path, method } = request.head;
    // Without an answer, the counts are sent later.
    if (path === '/sys/history' && method === 'GET') await counter.send().catch(() => undefined);
    return sys.handle(request);
  },
});
