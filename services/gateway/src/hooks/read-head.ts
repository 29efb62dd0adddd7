/** Reads the head of the request: Host, target, dialect, client address. */
import type { onRequestHookHandler } from 'fastify';
import { type HeadRules, readHead } from '../request/request-head.ts';

export const readRequestHead =
  (rules: HeadRules): onRequestHookHandler =>
  ({ exchange, raw }, _reply, done) => {
    exchange.head = readHead(raw, exchange.requestId, exchange.surface, rules);
    done();
  };
