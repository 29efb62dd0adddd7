/**
 * `GET /v1/sys/internal/ui/recent-requests`: the newest audited requests. sys decides who may see them;
 * the gateway adds the list, because it has recorded them. Each process answers with its own.
 */
import { type EdgeService, edgeResponse } from '@keelson/edge';
import { responseBytes } from '../answers/response-bytes.ts';
import { mergeRecent, type RecentRequest } from './domain/recent-request.ts';

const PATH = '/sys/internal/ui/recent-requests';

/** @param lists those of the threads of the process */
export const withRecentRequests = (
  sys: EdgeService,
  lists: () => Promise<readonly (readonly RecentRequest[])[]>,
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
      Buffer.from(JSON.stringify({ ...document, data: { requests: mergeRecent(await lists()) } })),
    );
  },
});
