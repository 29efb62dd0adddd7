/** Ends an upgrade in the store of this service, on request of sys. */
import type { ReplicationMemberDefinition } from '@keelson/proto/sys/v1/replication';
import type { ClosedScopes, WriteGate } from '@keelson/replication';
import type { RpcService } from '@keelson/rpc';
import { findUnfinished, type RecordScope, rewriteOlder, type Store } from '@keelson/storage';

type RecordUpgradesRpc = Pick<
  RpcService<typeof ReplicationMemberDefinition>,
  'pendingUpgrades' | 'upgradeRecords'
>;

/** Records of the other scopes are rewritten by the cluster that this one follows. */
const WRITABLE: Readonly<Record<ClosedScopes, readonly RecordScope[]>> = {
  none: ['local', 'node', 'shared'],
  shared: ['local', 'node'],
  all: ['node'],
};

/** Time of one request, in which several batches are rewritten. */
const WORK_MS = 500;

export const recordUpgradesRpc = (store: Store, gate: WriteGate): RecordUpgradesRpc => ({
  pendingUpgrades: async () => {
    await store.requireUsable();
    const unfinished = await findUnfinished(store, WRITABLE[gate.closed]);
    return { kinds: [...new Set([...store.pendingUpgrades(), ...unfinished])] };
  },
  upgradeRecords: async ({ after: start }) => {
    if (start === '' && store.pendingUpgrades().length > 0) await store.raiseVersions();
    const endsAtMs = performance.now() + WORK_MS;
    let after: string | undefined = start;
    let examined = 0;
    let rewritten = 0;
    do {
      const batch = await rewriteOlder(store, WRITABLE[gate.closed], after);
      examined += batch.examined;
      rewritten += batch.rewritten;
      after = batch.after;
    } while (after !== undefined && performance.now() < endsAtMs);
    return { after: after ?? '', examined, rewritten };
  },
});
