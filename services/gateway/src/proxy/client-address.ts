/**
 * The address of a client: of who connected, or what a proxy says that is configured as one. Audit entries,
 * networks that tokens are bound to, and limits go by it.
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { createNetworks } from '@keelson/edge/networks';
import { KeelsonError } from '@keelson/errors';

export type ClientAddress = (request: IncomingMessage) => string;

/** An IPv4 client of a socket that serves IPv6 as well. */
const plain = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/i, '');

/** An address as proxies write it, which may have a port; undefined when it is none. */
const parseAddress = (text: string): string | undefined => {
  const [, bracketed, dotted] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? [];
  const address = bracketed ?? dotted ?? text;
  return isIP(address) === 0 ? undefined : plain(address);
};

/**
 * @param trustedProxies addresses and networks; their X-Forwarded-For is believed, nobody else's
 * @returns throws KeelsonError `request.invalid` for a list of such a proxy that holds no address where
 * the client's is looked for
 * @throws KeelsonError `request.invalid` naming what is neither address nor network
 */
export const createClientAddress = (trustedProxies: readonly string[]): ClientAddress => {
  const trusted = createNetworks(trustedProxies);
  return ({ headers, socket }) => {
    const peer = plain(socket.remoteAddress ?? '');
    if (trustedProxies.length === 0 || !trusted.includes(peer)) return peer;
    // Each proxy appends whom it was reached by: what is left of the first stranger is that one's word.
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
