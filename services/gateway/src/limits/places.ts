/**
 * Limits how many requests, or live streams, each client and all clients together have at a time. One over a
 * limit is refused instead of queued, because a queue would hold the memory that the limit protects.
 */
import { KeelsonError } from '@keelson/errors';

export interface Places {
  /**
   * Takes a place for a client address; the returned function gives it back, once.
   * @throws KeelsonError of the code when the client or all clients together have no place left
   */
  take(client: string): () => void;
}

export interface PlaceLimits {
  readonly total: number;
  /** The part of one client address. */
  readonly client: number;
}

export const createPlaces = (
  code: 'request.live_streams' | 'request.requests_under_way',
  limits: PlaceLimits,
  /** Called with the most places that were taken at once, whenever none is taken any more. */
  onEmpty: (peak: number) => void = () => undefined,
): Places => {
  const counts = new Map<string, number>();
  let total = 0;
  let peak = 0;
  const refuse = (whose: string, limit: number): never => {
    throw new KeelsonError(code, { whose, limit });
  };
  return {
    take: (client) => {
      const count = counts.get(client) ?? 0;
      if (count >= limits.client) refuse('of one client address', limits.client);
      if (total >= limits.total) refuse('of all clients', limits.total);
      counts.set(client, count + 1);
      total += 1;
      peak = Math.max(peak, total);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        total -= 1;
        const left = (counts.get(client) ?? 1) - 1;
        if (left === 0) counts.delete(client);
        else counts.set(client, left);
        if (total > 0) return;
        onEmpty(peak);
        peak = 0;
      };
    },
  };
};
