/**
 * `/session`: a page of the console that has signed in stores its tokens in a cookie (PUT, with the tokens in the
 * headers of the APIs; a token for one API is added to that for the other), and removes it when the person signs out.
 */
import { KeelsonError } from '@keelson/errors';
import type { FastifyPluginCallback, FastifyRequest } from 'fastify';
import {
  openSession,
  presentedTokens,
  removeSession,
  SESSION_HEADER,
  sealSession,
  sessionKeyOf,
} from './session-cookie.ts';

const requireKey = ({ headers }: FastifyRequest): string => {
  const key = sessionKeyOf(headers);
  if (key !== undefined) return key;
  const text = `${SESSION_HEADER} must be a key of 32 octets in base64url`;
  throw new KeelsonError('request.invalid', { text });
};

/** Whether the page was loaded by HTTPS, also from a proxy in front. */
const isSecure = ({ headers: { origin = '' }, exchange }: FastifyRequest): boolean =>
  origin.startsWith('https:') || exchange.head.baseUrl.startsWith('https:');

export const consoleSessionPlugin: FastifyPluginCallback = (app, _options, done) => {
  app.put('/', async (request, reply) => {
    const key = requireKey(request);
    const presented = presentedTokens(request.headers);
    if (presented.service === undefined && presented.api === undefined)
      throw new KeelsonError('request.invalid', { text: 'a session needs a token' });
    const tokens = { ...(await openSession(key, request.headers)), ...presented };
    return reply
      .headers(request.exchange.answerHeaders)
      .header('set-cookie', await sealSession(key, tokens, isSecure(request)))
      .code(204)
      .send();
  });
  app.delete('/', (request, reply) =>
    reply
      .headers(request.exchange.answerHeaders)
      .header('set-cookie', removeSession(requireKey(request), isSecure(request)))
      .code(204)
      .send(),
  );
  done();
};
