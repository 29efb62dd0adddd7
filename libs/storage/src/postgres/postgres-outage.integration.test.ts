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
/** The outcome of a write is unknown when the server is killed during the commit. */
const unavailableOrUnknown = expect.objectContaining({
  code: expect.stringMatching(/^storage\.(unavailable|outcome_unknown)$/),
});

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
    writers.map(() => unavailableOrUnknown),
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

test('a full disk of the server is a fault of the store until a write succeeds', async () => {
  await put('shared/a');
  const told: unknown[] = [];
  const over = Promise.withResolvers<void>();
  store.onFault(({ kind, isOver }) => {
    told.push([kind, isOver]);
    if (isOver) over.resolve();
  });
  // The error of a server whose disk is full, at the place where it occurs.
  await server.firstRow(
    'postgres',
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`,
  );
  await server.firstRow(
    'postgres',
    'CREATE TRIGGER full_disk BEFORE UPDATE ON head EXECUTE FUNCTION refuse()',
  );
  for (let tries = 0; tries < 2; tries += 1)
    await expect(put('shared/b')).rejects.toThrow(
      expect.objectContaining({ code: 'storage.full' }),
    );
  expect(await store.read('shared/a')).toBeDefined();
  expect(store.faults()).toEqual([
    { kind: 'full', text: expect.stringContaining('the disk of the store is full') },
  ]);
  await server.firstRow('postgres', 'DROP TRIGGER full_disk ON head');
  await over.promise;
  expect([told, store.faults()]).toEqual([
    [
      ['full', false],
      ['full', true],
    ],
    [],
  ]);
});
