/**
 * Limits the connections of each client address, so that one client leaves room for others and for
 * probes.
 */
import type { Socket } from 'node:net';
import { createNetworks } from '@keelson/edge/networks';
import { clientNetwork, plainAddress } from './client-network.ts';

/** Closes a connection that exceeds the limit. */
export type LimitConnections = (socket: Socket) => void;

/**
 * @param limit of each address
 * @param trustedProxies addresses and networks that have no limit: many clients are behind each
 */
export const limitConnections = (
  limit: number,
  trustedProxies: readonly string[],
): LimitConnections => {
  const trusted = createNetworks(trustedProxies);
  const counts = new Map<string, number>();
  return (socket) => {
    const address = plainAddress(socket.remoteAddress ?? '');
    if (trustedProxies.length > 0 && trusted.includes(address)) return;
    const client = clientNetwork(address);
    const count = counts.get(client) ?? 0;
    if (count >= limit) {
      socket.destroy();
      return;
    }
    counts.set(client, count + 1);
    socket.once('close', () => {
      const left = (counts.get(client) ?? 1) - 1;
      if (left === 0) counts.delete(client);
      else counts.set(client, left);
    });
  };
};
