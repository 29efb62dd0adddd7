/** Connections that are lost while a commit is under way, at either side of the moment when it takes effect. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type PostgresServer, startPostgres } from '@keelson/testkit';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import type { Store } from '../store.ts';
import { openPostgresStore } from './postgres-store.ts';

/** The link to the server, which loses the next connection that commits. */
interface Link extends AsyncDisposable {
  readonly port: number;
  /** "before": the server never sees COMMIT. "after": its answer does not arrive. */
  loseNextCommit(when: 'before' | 'after'): void;
  /** Resets all connections, and new ones until the function that it returns is called. */
  cut(): () => void;
}

const openLink = async (serverPort: number): Promise<Link> => {
  let losing: 'before' | 'after' | undefined;
  let isCut = false;
  const sockets = new Set<Socket>();
  const listener = createServer((client) => {
    if (isCut) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(serverPort, '127.0.0.1');
    let isLosing = false;
    const lose = (): void => {
      client.resetAndDestroy();
      server.end();
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (losing !== undefined && chunk.includes('COMMIT')) {
        isLosing = true;
        const when = losing;
        losing = undefined;
        if (when === 'before') {
          lose();
          return;
        }
      }
      server.write(chunk);
    });
    server.on('data', (chunk) => (isLosing ? lose() : client.write(chunk)));
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  const cut = (): (() => void) => {
    isCut = true;
    for (const socket of sockets) socket.resetAndDestroy();
    return () => {
      isCut = false;
    };
  };
  return {
    port: (listener.address() as AddressInfo).port,
    loseNextCommit: (when) => {
      losing = when;
    },
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((closed) => listener.close(closed));
    },
  };
};

let server: PostgresServer;
let link: Link;
let store: Store;

const addressOf = (...ports: readonly number[]): string =>
  `postgres://postgres@${ports.map((port) => `127.0.0.1:${port}`).join()}/postgres`;

const openStore = async (connectionString: string): Promise<Store> => {
  const barrier = createBarrier();
  const opened = await openPostgresStore({ connectionString, barrier });
  await openBarrierFor(opened, barrier, new Uint8Array(32).fill(1));
  return opened;
};

beforeEach(async () => {
  server = await startPostgres();
  link = await openLink(server.port);
  store = await openStore(addressOf(link.port));
});
afterEach(async () => {
  await store.close();
  await link[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** Adds one to a counter, so that a write that took effect twice shows. @returns runs of the body */
const count = async (): Promise<number> => {
  let runs = 0;
  await store.transact(async (tx) => {
    runs += 1;
    const found = await tx.read('shared/counter');
    tx.write('shared/counter', Buffer.of((found?.value[0] ?? 0) + 1));
  });
  return runs;
};
const counted = async (from: Store): Promise<number | undefined> =>
  (await from.read('shared/counter'))?.value[0];

test('a commit that did not reach the server is made again', async () => {
  expect(await count()).toBe(1);
  link.loseNextCommit('before');
  expect(await count()).toBe(2);
  expect(await counted(store)).toBe(2);
});

test('a commit whose confirmation was lost is not made twice', async () => {
  const before = await store.wal.headSequence();
  link.loseNextCommit('after');
  expect(await count()).toBe(1);
  expect(await count()).toBe(1);
  expect(await counted(store)).toBe(2);
  expect(await store.wal.headSequence()).toBe(before + 2);
});

test('connections that were lost while idle are replaced without an error', async () => {
  await count();
  link.cut()();
  expect(await counted(store)).toBe(1);
  link.cut()();
  expect(await count()).toBe(1);
});

test('a commit is not confirmed when somebody cancels its wait for the standby', async () => {
  // A server that reloads its settings may still confirm commits without the standby.
  await server.firstRow('postgres', "ALTER SYSTEM SET synchronous_standby_names = 'none'");
  await server.process.restart();
  const client = new pg.Client({ connectionString: server.connectionString });
  await client.connect();
  /** Resolves with the process of the server that waits for the standby, other than `former`. */
  const waiting = async (former = 0): Promise<number> => {
    const sql = `SELECT pid FROM pg_stat_activity
      WHERE wait_event = 'SyncRep' AND backend_type = 'client backend' AND pid <> $1`;
    for (;;) {
      const { rows } = await client.query<{ pid: number }>(sql, [former]);
      if (rows[0] !== undefined) return rows[0].pid;
    }
  };
  const writing = count();
  const pid = await waiting();
  await client.query('SELECT pg_cancel_backend($1)', [pid]);
  // The look-up waits in its place.
  expect(await Promise.race([writing.then(() => 'confirmed'), waiting(pid)])).not.toBe('confirmed');
  await client.query("ALTER SYSTEM SET synchronous_standby_names = ''");
  await client.query('SELECT pg_reload_conf()');
  expect(await writing).toBe(1);
  expect(await counted(store)).toBe(1);
  await client.end();
});

test('of several servers the one that takes writes is used, also after they have changed roles', async () => {
  await using other = await startPostgres();
  const readOnly = async ({ connectionString }: PostgresServer, isReadOnly: boolean) => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${isReadOnly}`);
    await client.query('SELECT pg_reload_conf()');
    await client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
    );
    await client.end();
  };
  await readOnly(other, true);
  const moving = await openStore(addressOf(other.port, server.port));
  try {
    await moving.transact((tx) => tx.write('shared/a', Buffer.of(1)));
    expect(await store.read('shared/a')).toBeDefined();
    await readOnly(server, true);
    const refused = expect.objectContaining({ code: 'storage.unavailable' });
    await expect(moving.read('shared/a')).rejects.toThrow(refused);
    await readOnly(server, false);
    expect(await moving.read('shared/a')).toBeDefined();
  } finally {
    await moving.close();
  }
});

test('a database that has lost commits is not written to', async () => {
  await count();
  await count();
  const client = new pg.Client({ connectionString: server.connectionString });
  await client.connect();
  await client.query('UPDATE head SET sequence = sequence - 1');
  await client.end();
  const refused = expect.objectContaining({ code: 'storage.rolled_back' });
  await expect(store.read('shared/counter')).rejects.toThrow(refused);
  await expect(store.transact((tx) => tx.write('shared/b', Buffer.of(1)))).rejects.toThrow(refused);
});
