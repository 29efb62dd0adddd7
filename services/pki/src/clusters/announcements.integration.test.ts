import { createBarrier, openBarrierFor, openSqliteStore } from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { untilAnnounced } from './announcements.ts';
import { outboxPrefix } from './outbox.ts';

const MOUNT = { uuid: 'a-mount', local: false };

test('wakes on messages between clusters, not on other writes or on their removal', async () => {
  await using folder = await temporaryDirectory();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: `${folder.path}/store.db`, barrier });
  await openBarrierFor(store, barrier, new Uint8Array(32).fill(1));
  const put = (path: string) => store.transact((tx) => tx.write(path, Buffer.from('{}')));
  const never = new AbortController();
  try {
    for (const path of [
      `${outboxPrefix(MOUNT)}x`,
      'shared/cluster-revocations/a-mount/x',
      'shared/mounts/a-mount/unified-crl-pending/x',
      'shared/mounts/a-mount/revocation-requests/x',
      'shared/mounts/a-mount/revocation-confirmations/x',
    ]) {
      const position = await store.wal.headSequence();
      const woken = untilAnnounced(store, position, never.signal);
      await put('shared/mounts/a-mount/roles/web');
      await put(path);
      expect(await woken).toBe(true);
      const ending = new AbortController();
      const quiet = untilAnnounced(store, await store.wal.headSequence(), ending.signal);
      await store.transact((tx) => tx.delete(path));
      ending.abort();
      expect(await quiet).toBe(false);
    }
  } finally {
    await store.close();
  }
});

test('while something waits for the primary, every message from the primary wakes', async () => {
  await using folder = await temporaryDirectory();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: `${folder.path}/store.db`, barrier });
  await openBarrierFor(store, barrier, new Uint8Array(32).fill(1));
  const put = (path: string) => store.transact((tx) => tx.write(path, Buffer.from('{}')));
  try {
    const ending = new AbortController();
    const quiet = untilAnnounced(store, await store.wal.headSequence(), ending.signal, true);
    await put('local/mounts/a-mount/certificates/x');
    await put('node/x');
    ending.abort();
    expect(await quiet).toBe(false);
    const position = await store.wal.headSequence();
    const woken = untilAnnounced(store, position, new AbortController().signal, true);
    await put('shared/replication/canary');
    expect(await woken).toBe(true);
  } finally {
    await store.close();
  }
});
