/** Counts the request, and logs it in one line once its answer has been sent. */
import { createRequestLog, type Logger } from '@keelson/logging';
import type { onRequestHookHandler } from 'fastify';
import type { RequestMetrics } from '../metrics/metrics.ts';
import type { Exchange } from '../request/exchange.ts';
import { recordedPath } from '../request/signed-address.ts';
import { isWebhookAddress } from '../request/webhook-address.ts';

const loggedPath = ({ surface, head: { path } }: Exchange): string =>
  surface.prefix + (surface.name === 'v1' ? path : recordedPath(path));

/** Counted, because a provider may disable a webhook after refusals that nobody else notices. */
const isOversizedDelivery = ({ surface, head }: Exchange, status: number): boolean =>
  status === 413 && surface.name === 'api_v2' && isWebhookAddress(head.path);

export const recordRequest = (metrics: RequestMetrics, logger: Logger): onRequestHookHandler => {
  const logRequest = createRequestLog(logger);
  return ({ exchange }, { raw: response }, done) => {
    const startedMs = performance.now();
    metrics.started();
    exchange.whenClosed(() => {
      const { requestId, head, group, request } = exchange;
      const durationMs = Math.round((performance.now() - startedMs) * 1000) / 1000;
      logRequest({
        requestId,
        method: head.method,
        path: loggedPath(exchange),
        status: response.statusCode,
        durationMs,
        remoteAddress: head.remoteAddress,
        ...exchange.account,
      });
      if (isOversizedDelivery(exchange, response.statusCode)) metrics.oversizedDelivery();
      metrics.finished(group, request.method ?? '', response.statusCode, durationMs / 1000);
    });
    done();
  };
};
