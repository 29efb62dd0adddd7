/**
 * Sends the outbox of a secondary to the primary: as a request from service to service, with a method
 * that no gateway and no route knows.
 */

import type { ReplicationMember } from '@keelson/cluster-member';
import { type EdgeService, edgeResponse } from '@keelson/edge';
import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { Dialect, type Mount, RequestStart, ResponseStart } from '@keelson/proto/edge/v1/edge';
import type { Store } from '@keelson/storage';
import { readOutbox, writeForAll } from './outbox-contents.ts';

const METHOD = 'ANNOUNCE';
const ANSWER_WITHIN_MS = 10_000;
const APPLY_WITHIN_MS = 2000;
const MAX_BODY_BYTES = 1024 * 1024;

/** Places below `shared/`, and the values as they are written. */
type Forwarded = readonly (readonly [string, string])[];

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

const encode = (mount: MountScope, records: Forwarded): Uint8Array =>
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
    body: Buffer.from(JSON.stringify(records)),
    complete: true,
  }).finish();

/**
 * Sends the outbox to the primary, which writes the records, and deletes here what the primary has written.
 * @throws KeelsonError when the primary is unreachable: the rest is kept
 */
export const forwardOutbox = async (
  member: ReplicationMember,
  store: Store,
  mount: MountScope,
): Promise<void> => {
  const run = member.runOf('performance');
  if (run?.role !== 'secondary') throw new KeelsonError('replication.not_ready');
  for (;;) {
    const records = await readOutbox(store, mount);
    if (records.length === 0) return;
    const forwarded = records.map(
      ([, { place, value }]) => [place, Buffer.from(value).toString()] as const,
    );
    const { response } = await run.secondary.forward(encode(mount, forwarded), {
      timeoutMs: ANSWER_WITHIN_MS,
      applyWithinMs: APPLY_WITHIN_MS,
    });
    const status = ResponseStart.decode(response).head?.status;
    if (status !== 204) throw new KeelsonError('replication.malformed', { reason: `${status}` });
    await store.transact(async (tx) => {
      for (const [path, { value }] of records) {
        const now = await tx.read(path);
        // A record that was replaced meanwhile has not been forwarded.
        if (now !== undefined && Buffer.from(now.value).equals(value)) tx.delete(path);
      }
    });
  }
};

/** Wraps the service for secondaries: accepts their outboxes, and passes on all other requests. */
export const acceptingOutboxes = (store: Store, edge: EdgeService): EdgeService => ({
  ...edge,
  handle: async (request) => {
    const { method, mount } = request.head;
    if (method !== METHOD || mount === undefined) return edge.handle(request);
    const forwarded = JSON.parse(
      Buffer.from(await request.body.bytes(MAX_BODY_BYTES)).toString(),
    ) as Forwarded;
    await store.transact((tx) => {
      for (const [place, value] of forwarded)
        writeForAll(tx, mount, { place, value: Buffer.from(value) });
    });
    return edgeResponse(204);
  },
});
