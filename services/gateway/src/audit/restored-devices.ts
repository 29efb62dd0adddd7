/**
 * The answer to a restoration names the audit devices of the snapshot that cannot be written to here, because every
 * later request may be refused for them. The gateway adds them, because it is the process that writes.
 */
import { type EdgeService, edgeResponse } from '@keelson/edge';
import { responseBytes } from '../answers/response-bytes.ts';
import type { AuditLog } from './audit-log.ts';

const PATH = /^\/sys\/storage\/raft\/snapshot(-force)?$/;

export const withRestoredDevices = (
  sys: EdgeService,
  log: Pick<AuditLog, 'faultsAhead'>,
): EdgeService => ({
  ...sys,
  handle: async (request) => {
    const answered = await sys.handle(request);
    const { path, method } = request.head;
    const { status } = answered.head;
    if (!PATH.test(path) || method === 'GET' || (status !== 200 && status !== 204)) return answered;
    const faults = await log.faultsAhead();
    if (faults.length === 0) return answered;
    const { warnings } = (
      status === 204
        ? { warnings: [] }
        : JSON.parse(Buffer.from(await responseBytes(answered)).toString())
    ) as { readonly warnings: readonly string[] };
    return edgeResponse(
      200,
      { 'content-type': 'application/json' },
      Buffer.from(JSON.stringify({ warnings: [...warnings, ...faults] })),
    );
  },
});
