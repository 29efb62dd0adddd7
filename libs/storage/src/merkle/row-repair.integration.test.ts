/** Rows of real databases, changed behind the store's back. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type PostgresServer, startPostgres, temporaryDirectory } from '@keelson/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import { get, put, ROOT_KEY } from '../contract/store-context.ts';
import { openPostgresStore } from '../postgres/postgres-store.ts';
import { deriveView } from '../records/derive-view.ts';
import { openSqliteStore } from '../sqlite/sqlite-store.ts';
import type { Store } from '../store.ts';

const WITHIN_MS = 60_000;

interface Place extends AsyncDisposable {
  readonly store: Store;
  /** Opens the store again after changing its rows. */
  damage(sql: string): Promise<Store>;
}

let server: PostgresServer;
let databases = 0;
beforeAll(async () => {
  server = await startPostgres();
}, WITHIN_MS);
afterAll(() => server[Symbol.asyncDispose](), WITHIN_MS);

const openWith = async (
  open: (barrier: ReturnType<typeof createBarrier>) => Promise<Store>,
): Promise<Store> => {
  const barrier = createBarrier();
  const store = await open(barrier);
  await openBarrierFor(store, barrier, ROOT_KEY);
  return store;
};

const openPlace = async (
  open: (barrier: ReturnType<typeof createBarrier>) => Promise<Store>,
  run: (sql: string) => Promise<void>,
  end: () => Promise<void> = async () => undefined,
): Promise<Place> => {
  let store = await openWith(open);
  return {
    get store() {
      return store;
    },
    damage: async (sql) => {
      await store.merkle.save();
      await store.close();
      await run(sql);
      store = await openWith(open);
      return store;
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      await end();
    },
  };
};

const openSqlite = async (): Promise<Place> => {
  const folder = await temporaryDirectory();
  const file = join(folder.path, 'store.db');
  return openPlace(
    (barrier) => openSqliteStore({ file, barrier }),
    async (sql) => {
      const database = new DatabaseSync(file);
      database.exec(sql.replaceAll('BYTES', "x'00ff'").replaceAll('PATH', "'shared/a'"));
      database.close();
    },
    async () => folder[Symbol.asyncDispose](),
  );
};

const openPostgres = async (): Promise<Place> => {
  databases += 1;
  const connectionString = await server.createDatabase(`repair_${databases}`);
  return openPlace(
    (barrier) => openPostgresStore({ connectionString, barrier, connectionCount: 2 }),
    async (sql) => {
      const client = new pg.Client({ connectionString });
      await client.connect();
      await client.query(
        sql.replaceAll('BYTES', String.raw`'\x00ff'`).replaceAll('PATH', `'shared/a'::bytea`),
      );
      await client.end();
    },
  );
};

const isCorrupted = async (store: Store): Promise<boolean> =>
  (await store.merkle.check()).corrupted_root;

describe.for([
  ['SQLite', openSqlite],
  ['PostgreSQL', openPostgres],
] as const)('rows of %s', ([, open]) => {
  test('with a wrong leaf get the leaf of their content', async () => {
    await using place = await open();
    await put(place.store, { 'shared/a': '1', 'local/b': '2' });
    const roots = await place.store.merkle.roots();
    const store = await place.damage('UPDATE record SET leaf = BYTES WHERE path = PATH');
    expect(await store.merkle.rebuild()).toEqual([]);
    expect(await store.merkle.roots()).toEqual(roots);
    // The next write removes the repaired leaf from the tree.
    await put(store, { 'shared/a': '2' });
    expect(await isCorrupted(store)).toBe(false);
  });

  test('that cannot be decrypted are restored from the log', async () => {
    await using place = await open();
    await put(place.store, { 'shared/a': 'first' });
    await put(place.store, { 'shared/a': 'last', 'local/b': '2' });
    const roots = await place.store.merkle.roots();
    const store = await place.damage('UPDATE record SET stored = BYTES WHERE path = PATH');
    expect(await isCorrupted(store)).toBe(true);
    await expect(store.read('shared/a')).rejects.toThrow('cannot be decrypted');
    expect(store.damagedPaths()).toEqual(['shared/a']);
    const view = deriveView(store, ['shared/'], async (reads) => {
      const damaged: string[] = [];
      await reads.scan('shared/', { onDamaged: (path) => damaged.push(path) });
      return damaged;
    });
    expect(await view()).toEqual(['shared/a']);
    expect(await store.merkle.rebuild()).toEqual([]);
    expect(store.damagedPaths()).toEqual([]);
    expect(await view()).toEqual([]);
    expect(await get(store, 'shared/a')).toBe('last');
    expect(await store.merkle.roots()).toEqual(roots);
    expect(await isCorrupted(store)).toBe(false);
  });

  test('that are not in the log any more are reported, and remain counted as committed', async () => {
    await using place = await open();
    await put(place.store, { 'shared/a': '1', 'local/b': '2' });
    await put(place.store, { 'shared/c': '3' });
    const roots = await place.store.merkle.roots();
    await place.store.wal.prune({ maxAgeMs: -3_600_000, maxBytes: 0 });
    const store = await place.damage(
      'DELETE FROM wal; UPDATE record SET stored = BYTES WHERE path = PATH',
    );
    expect(await store.merkle.rebuild()).toEqual([
      { path: 'shared/a', tree: 'replicated', subpage: expect.any(Number) },
    ]);
    expect(await store.merkle.roots()).toEqual(roots);
    expect(await isCorrupted(store)).toBe(true);
    // A new write replaces the damaged row.
    await put(store, { 'shared/a': '2' });
    expect(await isCorrupted(store)).toBe(false);
  });
});
