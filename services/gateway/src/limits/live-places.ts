/**
 * Limits the number of live streams, because each holds a connection and queries services while it
 * lasts.
 */
import { KeelsonError } from '@keelson/errors';

export interface LivePlaces {
  /**
   * Takes a place for a client address; the returned function gives it back, once.
   * @throws KeelsonError `request.live_streams` when the client or all clients together have no place left
   */
  take(client: string): () => void;
}

export const createLivePlaces = (limits: { total: number; client: number }): LivePlaces => {
  const counts = new Map<string, number>();
  let total = 0;
  const refuse = (whose: string, limit: number): never => {
    throw new KeelsonError('request.live_streams', { whose, limit });
  };
  return {
    take: (client) => {
      const count = counts.get(client) ?? 0;
      if (count >= limits.client) refuse('of one client address', limits.client);
      if (total >= limits.total) refuse('of all clients', limits.total);
      counts.set(client, count + 1);
      total += 1;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        total -= 1;
        const left = (counts.get(client) ?? 1) - 1;
        if (left === 0) counts.delete(client);
        else counts.set(client, left);
      };
    },
  };
};
