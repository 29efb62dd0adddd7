/**
 * `GET /v1/sys/internal/ui/recent-requests`: the newest audited requests. sys decides who may see them;
 * the gateway adds the list, because it has recorded them. Each gateway answers with its own.
 */
import { type EdgeService, edgeResponse } from '@keelson/edge';
import { responseBytes } from '../answers/response-bytes.ts';
import type { AuditLog } from './audit-log.ts';

const PATH = '/sys/internal/ui/recent-requests';

export const withRecentRequests = (
  sys: EdgeService,
  log: Pick<AuditLog, 'recent'>,
): EdgeService => ({
  ...sys,
  handle: async (request) => {
    const answered = await sys.handle(request);
    const { path, method } = request.head;
    if (path !== PATH || method !== 'GET' || answered.head.status !== 200) return answered;
    const document = JSON.parse(Buffer.from(await responseBytes(answered)).toString()) as object;
    return edgeResponse(
      200,
      { 'content-type': 'application/json', 'cache-control': 'no-store' },
      Buffer.from(JSON.stringify({ ...document, data: { requests: log.recent() } })),
    );
  },
});
