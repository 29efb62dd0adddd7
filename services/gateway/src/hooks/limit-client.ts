/** Requests per second of each client address, other than those of the machine itself. */
import type { onRequestAsyncHookHandler } from 'fastify';
import { clientNetwork } from '../limits/client-network.ts';
import type { RateLimit } from '../limits/rate-limit.ts';

/** A client on the machine itself: an operator, a script, or a proxy that is not configured as one. */
const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';

export const limitClient =
  (rateLimit: RateLimit): onRequestAsyncHookHandler =>
  async ({ exchange }) => {
    const { remoteAddress } = exchange.head;
    if (rateLimit.limit === undefined || isLoopback(remoteAddress)) return;
    const { isAllowed, headers } = await rateLimit.count(clientNetwork(remoteAddress));
    if (!isAllowed) throw exchange.rateLimited(headers);
  };
