/**
 * `GET /v1/sys/metrics?format=prometheus`: the content of `/metrics` plus the replication metrics
 * of sys, for callers whose token may read the path. Implemented as a wrapper of sys, because the
 * gateway has the counters.
 */
import { type EdgeService, edgeResponse } from '@keelson/edge';
import { responseBytes } from '../answers/response-bytes.ts';
import type { RequestMetrics } from './metrics.ts';

const json = { 'content-type': 'application/json' };

export const withSysMetrics = (sys: EdgeService, metrics: RequestMetrics): EdgeService => ({
  ...sys,
  handle: async (request) => {
    const { path, method, query } = request.head;
    if (path !== '/sys/metrics' || method !== 'GET') return sys.handle(request);
    if (new URLSearchParams(query).get('format') !== 'prometheus')
      return edgeResponse(400, json, Buffer.from('{"errors":["format must be \\"prometheus\\""]}'));
    const answered = await sys.handle(request);
    if (answered.head.status !== 200) return answered;
    return edgeResponse(
      200,
      { 'content-type': metrics.contentType },
      Buffer.concat([Buffer.from(await metrics.text()), await responseBytes(answered)]),
    );
  },
});
