/** `/live`: one stream of server-sent events for each page of the console. */
import { edgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { FastifyPluginCallback } from 'fastify';
import { answerWith } from '../answers/answer-with.ts';
import { clientNetwork } from '../limits/client-network.ts';
import type { Places } from '../limits/places.ts';
import type { Shares } from '../limits/shares.ts';
import type { Exchange } from '../request/exchange.ts';
import { bearerToken, serviceHeader } from '../request/header-names.ts';
import { createLiveStream, event, type LiveParts, TOO_MANY_REQUESTS } from './live-stream.ts';
import { parseWatches } from './watches.ts';

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // nginx would hold events back until its buffer is full.
  'x-accel-buffering': 'no',
};
const RETRY_AFTER_SECONDS = '5';

export interface LivePluginParts extends LiveParts {
  readonly places: Places;
  readonly shares: Shares;
}

/** Ends a stream over the share of its tenant, which its first answer has shown. */
async function* withinShare(
  frames: AsyncIterable<Uint8Array>,
  exchange: Exchange,
  shares: Shares,
): AsyncGenerator<Uint8Array, void> {
  let isCounted = false;
  for await (const frame of frames) {
    yield frame;
    if (isCounted || exchange.tenant === '') continue;
    const leave = shares.openStream(exchange.tenant);
    if (leave === undefined) {
      yield event('end', { watch: 0, status: TOO_MANY_REQUESTS });
      return;
    }
    exchange.whenClosed(leave);
    isCounted = true;
  }
}

export const livePlugin: FastifyPluginCallback<LivePluginParts> = (app, parts, done) => {
  const frames = createLiveStream(parts);
  app.get('/', { exposeHeadRoute: false }, async (request, reply) => {
    const { exchange } = request;
    const open = answerWith(async () => {
      const { head, request: incoming, answerHeaders } = exchange;
      const watches = parseWatches(head.query);
      // Required, because answers to requests without credentials are cached by URL.
      if ((serviceHeader(incoming.headers, 'token') || bearerToken(incoming.headers)) === '')
        throw new KeelsonError('request.invalid', { text: 'a live stream needs a token' });
      try {
        reply.raw.once('close', parts.places.take(clientNetwork(head.remoteAddress)));
      } catch (refused) {
        answerHeaders['retry-after'] = RETRY_AFTER_SECONDS;
        throw refused;
      }
      const stream = withinShare(frames(exchange, watches), exchange, parts.shares);
      return Promise.resolve(edgeResponse(200, HEADERS, stream));
    });
    try {
      await open(request, reply);
    } catch (error) {
      // An aborted request is the normal end of a stream: the client has disconnected.
      if (!exchange.signal.aborted) throw error;
      reply.hijack();
    }
  });
  done();
};
