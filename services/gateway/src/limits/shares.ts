/**
 * Shares of tenants: an organization, a namespace, a user, or the address of a caller without a token. Each has a
 * bounded number of requests that a service works on, and a bounded number that wait for these. Whoever has a
 * request waiting takes turns with all others, so that many or slow requests delay those of their own tenant.
 *
 * Each gateway has shares of its own. Behind several of them, a service takes turns as well (`request-turns.ts` of
 * libs/edge).
 *
 * A transfer holds no place, since it takes as long as its client does. It waits for a turn before each of its pieces.
 */
import type { EdgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { createLoopTurns, FairQueue } from '@keelson/locks';
import { Counter, Gauge, type MetricsRegistry } from '@keelson/metrics';
import { RETRY_AFTER_SECONDS } from './retry-after.ts';

export interface ShareLimits {
  /** Requests that services work on at a time. */
  readonly atOnce: number;
  /** The part of one tenant. */
  readonly atOnceOfTenant: number;
  /** Requests of one tenant that wait. */
  readonly waitingOfTenant: number;
  /** Live streams of one tenant. */
  readonly streamsOfTenant: number;
}

/** The part of an exchange that has to do with its place. */
export interface ShareExchange {
  /** Aborted when the exchange ends before its answer. */
  readonly signal: AbortSignal;
  readonly answerHeaders: Record<string, string>;
  /** Set while a live stream asks, which reads each answer to its end. */
  readonly repeated: object | undefined;
  whenClosed(listener: () => void): void;
}

export interface Shares {
  /**
   * Does the work when it is the turn of the tenant. Its place is free again when the answer is complete, or
   * when nobody reads it any more.
   * @throws KeelsonError when too many requests of the tenant wait, or the exchange ends before its turn
   */
  take(
    tenant: string,
    exchange: ShareExchange,
    work: () => Promise<EdgeResponse>,
  ): Promise<EdgeResponse>;
  /**
   * Resolves when it is the turn of the tenant, whose place is free again at once.
   * @param signal ends the waiting
   */
  turn(tenant: string, signal?: AbortSignal): Promise<void>;
  /** Counts a live stream until the returned function is called; undefined when the tenant has too many. */
  openStream(tenant: string): (() => void) | undefined;
}

/** The bytes, and then the end of the place. */
async function* releasing(
  body: AsyncIterable<Uint8Array>,
  release: () => void,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body;
  } finally {
    release();
  }
}

/** Counts one more of the tenant until the returned function is called, once. */
const countUntilCalled = (
  counts: Map<string, number>,
  tenant: string,
  onEnd: () => void = () => undefined,
): (() => void) => {
  counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  let isCounted = true;
  return () => {
    if (!isCounted) return;
    isCounted = false;
    const left = (counts.get(tenant) ?? 1) - 1;
    if (left === 0) counts.delete(tenant);
    else counts.set(tenant, left);
    onEnd();
  };
};

export const createShares = (
  { atOnce, atOnceOfTenant, waitingOfTenant, streamsOfTenant }: ShareLimits,
  registry: MetricsRegistry,
): Shares => {
  const waiting = new FairQueue<() => void>();
  const servedOf = new Map<string, number>();
  const streamsOf = new Map<string, number>();
  let served = 0;
  new Gauge({
    name: 'keelson_http_requests_waiting',
    help: 'Requests that wait for the turn of their organization, namespace, user or address.',
    registers: [registry],
    collect() {
      this.set(waiting.size);
    },
  });
  const refusals = new Counter({
    name: 'keelson_http_share_refusals_total',
    help: 'Requests and live streams refused because an organization, namespace, user or address had too many.',
    labelNames: ['kind'],
    registers: [registry],
  });

  const hasPlace = (tenant: string): boolean => (servedOf.get(tenant) ?? 0) < atOnceOfTenant;
  /** Whether one more request may begin now. */
  const mayBegin = (): boolean => served < atOnce && turns.mayBegin();
  const startWaiting = (): void => {
    if (waiting.size > 0 && mayBegin()) waiting.take((_, tenant) => hasPlace(tenant))?.();
  };
  const turns = createLoopTurns(startWaiting);
  const occupy = (tenant: string): (() => void) => {
    served += 1;
    turns.begin();
    return countUntilCalled(servedOf, tenant, () => {
      served -= 1;
      startWaiting();
    });
  };

  /** Resolves with the function that gives the place back. */
  const place = (tenant: string, signal?: AbortSignal): Promise<() => void> => {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    signal?.throwIfAborted();
    const leave = (): void => {
      waiting.remove(tenant, start);
      reject(signal?.reason as Error);
    };
    const start = (): void => {
      signal?.removeEventListener('abort', leave);
      resolve(occupy(tenant));
    };
    signal?.addEventListener('abort', leave, { once: true });
    waiting.push(tenant, start);
    return promise;
  };
  /** Whether the tenant need not wait. */
  const isNext = (tenant: string): boolean =>
    waiting.countOf(tenant) === 0 && hasPlace(tenant) && mayBegin();
  const placeOfRequest = (tenant: string, exchange: ShareExchange) => {
    if (isNext(tenant)) return occupy(tenant);
    if (waiting.countOf(tenant) < waitingOfTenant) return place(tenant, exchange.signal);
    refusals.inc({ kind: 'requests' });
    exchange.answerHeaders['retry-after'] = RETRY_AFTER_SECONDS;
    throw new KeelsonError('request.share_exceeded', { limit: waitingOfTenant });
  };

  return {
    openStream: (tenant) => {
      if ((streamsOf.get(tenant) ?? 0) < streamsOfTenant)
        return countUntilCalled(streamsOf, tenant);
      refusals.inc({ kind: 'live_streams' });
      return undefined;
    },
    turn: async (tenant, signal) => {
      const release = isNext(tenant) ? occupy(tenant) : await place(tenant, signal);
      release();
    },
    take: async (tenant, exchange, work) => {
      const release = await placeOfRequest(tenant, exchange);
      try {
        const answer = await work();
        const { body } = answer;
        if (body instanceof Uint8Array) {
          release();
          return answer;
        }
        // A live stream reads each answer to its end.
        if (exchange.repeated === undefined) exchange.whenClosed(release);
        return { ...answer, body: releasing(body, release) };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
};
