import { type PostgresServer, startPostgres } from '@keelson/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import type { Store } from '../store.ts';
import { openPostgresStore } from './postgres-store.ts';

let server: PostgresServer;
let store: Store;

beforeEach(async () => {
  server = await startPostgres({ settings: { fsync: 'on' } });
  const barrier = createBarrier();
  store = await openPostgresStore({ connectionString: server.connectionString, barrier });
  await openBarrierFor(store, barrier, new Uint8Array(32).fill(1));
});
afterEach(async () => {
  await store.close();
  await server[Symbol.asyncDispose]();
});

const put = (path: string): Promise<void> =>
  store.transact((tx) => tx.write(path, Buffer.from(path)));
const unavailable = expect.objectContaining({ code: 'storage.unavailable' });

test('refuses reads while the server is down, even of cached records, and continues when it is back', async () => {
  await put('shared/a');
  expect(await store.read('shared/a')).toBeDefined();
  await server.process.stop();
  await expect(store.read('shared/a')).rejects.toThrow(unavailable);
  // The call by which others ask a service whether it can serve.
  await expect(store.position()).rejects.toThrow(unavailable);
  await expect(put('shared/b')).rejects.toThrow(unavailable);
  // The check behind the readiness of a service.
  await expect(store.position()).rejects.toThrow(unavailable);
  await server.process.start();
  await put('shared/c');
  expect(await store.list('shared/')).toEqual(['a', 'c']);
});

test('loses nothing acknowledged and leaves no gap when the server is killed under load', async () => {
  const acknowledged: string[] = [];
  const start = await store.wal.headSequence();
  const writeUntilRefused = async (writer: number): Promise<void> => {
    for (let count = 0; ; count += 1) {
      const path = `shared/${writer}-${count}`;
      await put(path);
      if (acknowledged.push(path) === 200) await server.process.kill();
    }
  };
  const writers = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) => writeUntilRefused(n)),
  );
  expect(writers.map((writer) => 'reason' in writer && writer.reason)).toEqual(
    writers.map(() => unavailable),
  );
  await server.process.start();
  const present = new Set((await store.scan('shared/')).map(({ path }) => path));
  expect(acknowledged.filter((path) => !present.has(path))).toEqual([]);
  const head = await store.wal.headSequence();
  expect(head - start).toBe(present.size);
});

test('opens only when the server can be reached', async () => {
  await server.process.stop();
  const opening = openPostgresStore({
    connectionString: server.connectionString,
    barrier: createBarrier(),
  });
  await expect(opening).rejects.toThrow(unavailable);
});
