/** `/api/v2`: the workspace API. */
import type { FastifyPluginCallback } from 'fastify';
import { answerWith, type ServeExchange } from '../answers/answer-with.ts';
import type { RateLimit } from '../limits/rate-limit.ts';

export interface ApiV2PluginParts {
  readonly serveApiV2: ServeExchange;
  readonly rateLimit: RateLimit;
}

/**
 * Routes every method and path but one: the service owns the routes below, and answers 404 and 405
 * itself.
 */
export const apiV2Plugin: FastifyPluginCallback<ApiV2PluginParts> = (
  app,
  { serveApiV2, rateLimit: { limit } },
  done,
) => {
  app.all('/ping', ({ exchange }, reply) => {
    reply.headers(exchange.answerHeaders);
    // Clients throttle themselves to this rate from the first call on.
    if (limit !== undefined) reply.header('x-ratelimit-limit', limit);
    return reply.code(204).send();
  });
  for (const path of ['/', '/*']) app.all(path, answerWith(serveApiV2));
  done();
};
