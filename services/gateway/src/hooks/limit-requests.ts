/** Counts the requests in progress of each client address and of all clients, live streams included. */
import type { onRequestHookHandler } from 'fastify';
import { clientNetwork } from '../limits/client-network.ts';
import type { Places } from '../limits/places.ts';
import { RETRY_AFTER_SECONDS } from '../limits/retry-after.ts';

export const limitRequests =
  (places: Places): onRequestHookHandler =>
  ({ exchange }, { raw: response }, done) => {
    try {
      response.once('close', places.take(clientNetwork(exchange.head.remoteAddress)));
    } catch (refused) {
      exchange.answerHeaders['retry-after'] = RETRY_AFTER_SECONDS;
      throw refused;
    }
    done();
  };
