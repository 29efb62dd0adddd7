/** `/v1`: certificates, administration, and everything else that sys decides about. */
import type { FastifyPluginCallback } from 'fastify';
import type { ServeExchange } from '../answers/answer-with.ts';
import { answerWith } from '../answers/answer-with.ts';

/**
 * Routes every method and path: the services own the routes below, and answer 404 and 405
 * themselves.
 */
export const v1Plugin: FastifyPluginCallback<{ readonly serveV1: ServeExchange }> = (
  app,
  { serveV1 },
  done,
) => {
  for (const path of ['/', '/*']) app.all(path, answerWith(serveV1));
  done();
};
