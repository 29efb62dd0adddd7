/**
 * The address of a client: that of the connection, or the one that a trusted proxy reports. Audit entries,
 * limits, and the networks that tokens are bound to use it.
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { createNetworks } from '@keelson/edge/networks';
import { KeelsonError } from '@keelson/errors';
import { plainAddress } from '../limits/client-network.ts';

export type ClientAddress = (request: IncomingMessage) => string;

/** An address as proxies write it, possibly with a port; undefined for any other text. */
const parseAddress = (text: string): string | undefined => {
  const [, bracketed, dotted] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? [];
  const address = bracketed ?? dotted ?? text;
  return isIP(address) === 0 ? undefined : plainAddress(address);
};

/**
 * @param trustedProxies addresses and networks; only their X-Forwarded-For is trusted
 * @returns a function that throws KeelsonError `request.invalid` if a trusted proxy's header has no
 * address in the client's position
 * @throws KeelsonError `request.invalid` naming the entry that is neither an address nor a network
 */
export const createClientAddress = (trustedProxies: readonly string[]): ClientAddress => {
  const trusted = createNetworks(trustedProxies);
  return ({ headers, socket }) => {
    const peer = plainAddress(socket.remoteAddress ?? '');
    if (trustedProxies.length === 0 || !trusted.includes(peer)) return peer;
    // Each proxy appends its peer's address, so nothing left of the first untrusted address counts.
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',');
    let client = peer;
    for (const text of forwarded.split(',').reverse()) {
      if (text.trim() === '') continue;
      const address = parseAddress(text.trim());
      if (address === undefined)
        throw new KeelsonError('request.invalid', {
          text: 'the header X-Forwarded-For must be a list of IP addresses',
        });
      client = address;
      if (!trusted.includes(client)) break;
    }
    return client;
  };
};
