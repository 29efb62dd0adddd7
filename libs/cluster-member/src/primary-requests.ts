/**
 * Requests of a service to itself on the primary of its performance set, with methods that no gateway and no route
 * knows.
 */
import type { EdgeService } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { Dialect, type Mount, RequestStart, ResponseStart } from '@keelson/proto/edge/v1/edge';
import type { ReplicationMember } from './replication-member.ts';

const ANSWER_WITHIN_MS = 10_000;
const APPLY_WITHIN_MS = 2000;
const MAX_BODY_BYTES = 1024 * 1024;

export interface PrimaryRequest {
  /** Not one of HTTP. */
  readonly method: string;
  readonly mount: Pick<Mount, 'uuid' | 'local' | 'type'>;
  /** Sent as JSON. */
  readonly body: unknown;
}

const encode = ({ method, mount, body }: PrimaryRequest): Uint8Array =>
  RequestStart.encode({
    head: {
      requestId: '',
      method,
      path: '/',
      query: '',
      headers: {},
      dialect: Dialect.SPECIFICATION,
      remoteAddress: '',
      baseUrl: '',
      traceparent: '',
      namespace: undefined,
      mount: {
        uuid: mount.uuid,
        local: mount.local,
        type: mount.type,
        accessor: '',
        path: '',
        namespace: undefined,
        defaultLeaseTtlSeconds: 0,
        maxLeaseTtlSeconds: 0,
        passthroughRequestHeaders: [],
        allowedResponseHeaders: [],
        options: {},
        description: '',
        userLockout: undefined,
      },
      caller: undefined,
      principal: undefined,
    },
    deadlineMs: ANSWER_WITHIN_MS,
    body: Buffer.from(JSON.stringify(body)),
    complete: true,
    tenant: '',
  }).finish();

/**
 * Asks this service on the primary.
 * @returns status and body of its answer, once what it wrote can be read here or some time has passed
 * @throws KeelsonError `replication.not_ready` unless this cluster is a performance secondary, and when the primary
 *   cannot be reached
 */
export const askPrimary = async (
  member: ReplicationMember,
  request: PrimaryRequest,
): Promise<{ readonly status: number; readonly body: Buffer }> => {
  const run = member.runOf('performance');
  if (run?.role !== 'secondary') throw new KeelsonError('replication.not_ready');
  const { response } = await run.secondary.forward(encode(request), {
    timeoutMs: ANSWER_WITHIN_MS,
    applyWithinMs: APPLY_WITHIN_MS,
  });
  const { head, body } = ResponseStart.decode(response);
  return { status: head?.status ?? 0, body };
};

/**
 * Wraps the service for the requests of its secondaries.
 * @param answer answers a request of the method; all others are passed on
 */
export const answeringSecondaries = (
  edge: EdgeService,
  method: string,
  answer: (mount: Mount, body: unknown) => ReturnType<EdgeService['handle']>,
): EdgeService => ({
  ...edge,
  handle: async (request) => {
    const { head } = request;
    if (head.method !== method || head.mount === undefined) return edge.handle(request);
    const body = Buffer.from(await request.body.bytes(MAX_BODY_BYTES)).toString();
    return answer(head.mount, JSON.parse(body));
  },
});
