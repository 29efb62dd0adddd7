/** A service that has not noticed that its cluster stepped back receives nothing about the set. */
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys({ transport: inProcessTransport() });
});
afterEach(() => harness.close());

/** Advances the clock, because stepping back waits for the other services, of which there are none. */
const demote = async (kind: string): Promise<void> => {
  let isOver = false;
  const demoting = harness.asRoot('POST', `sys/replication/${kind}/primary/demote`).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    harness.clock.advance(1000);
    await setImmediate();
  }
  expect((await demoting).status).toBe(200);
};

test.for(['dr', 'performance'])(
  'of a %s set receives no answers, and renews no log',
  async (kind) => {
    const asked = { kind, service: 'pki' };
    const { replicationSets } = harness.sys;
    await expect(replicationSets.identity(asked)).rejects.toMatchObject({
      code: 'replication.not_ready',
    });
    await harness.asRoot('POST', `sys/replication/${kind}/primary/enable`);
    await replicationSets.renewLog(asked);
    const { logId } = await replicationSets.identity(asked);
    await demote(kind);
    const before = await harness.store.scan(`local/replication/${kind}/logs/`);
    for (const ask of [
      () => replicationSets.identity(asked),
      () => replicationSets.findEpoch({ kind, epoch: 0n }),
      () => replicationSets.findSecondary({ kind, id: 'any' }),
      () => replicationSets.renewLog(asked),
      () => replicationSets.findFilter({ kind, secondaryId: 'any', groups: [], all: true }),
      () => replicationSets.listFiltered({ kind }),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'replication.not_ready' });
    expect(await harness.store.scan(`local/replication/${kind}/logs/`)).toEqual(before);
    expect(logId).not.toBe('');
  },
);
