/** Sends the outbox of a secondary to the primary. */
import { answeringSecondaries, askPrimary, type ReplicationMember } from '@keelson/cluster-member';
import { type EdgeService, edgeResponse } from '@keelson/edge';
import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import { readOutbox, writeForAll } from './outbox-contents.ts';

const METHOD = 'ANNOUNCE';

/** Places below `shared/`, and the values as they are written. */
type Forwarded = readonly (readonly [string, string])[];

/**
 * Sends the outbox to the primary, which writes the records, and deletes here what the primary has written.
 * @throws KeelsonError when the primary is unreachable: the rest is kept
 */
export const forwardOutbox = async (
  member: ReplicationMember,
  store: Store,
  mount: MountScope,
): Promise<void> => {
  for (;;) {
    const records = await readOutbox(store, mount);
    if (records.length === 0) return;
    const body: Forwarded = records.map(([, { place, value }]) => [
      place,
      Buffer.from(value).toString(),
    ]);
    const { uuid, local } = mount;
    const { status } = await askPrimary(member, {
      method: METHOD,
      mount: { uuid, local, type: 'pki' },
      body,
    });
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
export const acceptingOutboxes = (store: Store, edge: EdgeService): EdgeService =>
  answeringSecondaries(edge, METHOD, async (mount, forwarded) => {
    await store.transact((tx) => {
      for (const [place, value] of forwarded as Forwarded)
        writeForAll(tx, mount, { place, value: Buffer.from(value) });
    });
    return edgeResponse(204);
  });
