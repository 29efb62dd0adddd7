/**
 * How the outbox of a secondary gets to the primary: as a request from service to service, by a method
 * that no gateway and no route knows.
 */
import type { ReplicationMember } from '@keelson/cluster-member';
import { type EdgeService, edgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { Dialect, type Mount, RequestStart, ResponseStart } from '@keelson/proto/edge/v1/edge';
import type { Store } from '@keelson/storage';
import type { MountScope } from '../mounts/mount-records.ts';
import { outboxPrefix, writeForAll } from './outbox.ts';

const METHOD = 'TELL';
/** Records of some 300 bytes; a message between clusters carries 900 KiB. */
const PAGE_SIZE = 500;
const ANSWER_WITHIN_MS = 10_000;
const APPLY_WITHIN_MS = 2000;
const MAX_BODY_BYTES = 1024 * 1024;

/** Places below `shared/`, and the values as they are written. */
type Told = readonly (readonly [string, string])[];

const toMount = ({ uuid, local }: MountScope): Mount => ({
  uuid,
  local,
  accessor: '',
  type: 'pki',
  path: '',
  namespace: undefined,
  defaultLeaseTtlSeconds: 0,
  maxLeaseTtlSeconds: 0,
  passthroughRequestHeaders: [],
  allowedResponseHeaders: [],
  options: {},
  description: '',
});

const encode = (mount: MountScope, told: Told): Uint8Array =>
  RequestStart.encode({
    head: {
      requestId: '',
      method: METHOD,
      path: '/',
      query: '',
      headers: {},
      dialect: Dialect.SPECIFICATION,
      remoteAddress: '',
      baseUrl: '',
      traceparent: '',
      namespace: undefined,
      mount: toMount(mount),
      caller: undefined,
      principal: undefined,
    },
    deadlineMs: ANSWER_WITHIN_MS,
    body: Buffer.from(JSON.stringify(told)),
    complete: true,
  }).finish();

/**
 * Has the primary write what lies in the outbox; what it has written is taken out.
 * @throws KeelsonError where the primary is not reached: the rest stays
 */
export const forwardOutbox = async (
  member: ReplicationMember,
  store: Store,
  mount: MountScope,
): Promise<void> => {
  const run = member.runOf('performance');
  if (run?.role !== 'secondary') throw new KeelsonError('replication.not_ready');
  const prefix = outboxPrefix(mount);
  for (;;) {
    const records = await store.scan(prefix, { limit: PAGE_SIZE });
    if (records.length === 0) return;
    const told = records.map(
      ({ path, value }) => [path.slice(prefix.length), Buffer.from(value).toString()] as const,
    );
    const { response } = await run.secondary.forward(encode(mount, told), {
      timeoutMs: ANSWER_WITHIN_MS,
      applyWithinMs: APPLY_WITHIN_MS,
    });
    const status = ResponseStart.decode(response).head?.status;
    if (status !== 204) throw new KeelsonError('replication.malformed', { reason: `${status}` });
    await store.transact(async (tx) => {
      for (const { path, value } of records) {
        const now = await tx.read(path);
        // What was put there meanwhile has not been told.
        if (now !== undefined && Buffer.from(now.value).equals(value)) tx.delete(path);
      }
    });
  }
};

/** The service as secondaries reach it: takes their outboxes, and answers everything else as before. */
export const acceptingOutboxes = (store: Store, edge: EdgeService): EdgeService => ({
  describe: () => edge.describe(),
  check: () => edge.check(),
  handle: async (request) => {
    const { method, mount } = request.head;
    if (method !== METHOD || mount === undefined) return edge.handle(request);
    const told = JSON.parse(
      Buffer.from(await request.body.bytes(MAX_BODY_BYTES)).toString(),
    ) as Told;
    await store.transact((tx) => {
      for (const [place, value] of told) writeForAll(tx, mount, place, Buffer.from(value));
    });
    return edgeResponse(204);
  },
});
