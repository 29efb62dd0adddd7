/** A primary and a performance secondary, standalone processes over a nats-server, as users run them. */

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PKI_PROJECTIONS } from '@keelson/pki-service';
import { createBarrier, openBarrierFor, openSqliteStore, type Store } from '@keelson/storage';
import { type NatsServer, startNats, temporaryDirectory } from '@keelson/testkit';
import { type Cluster, startCluster } from '@keelson/testkit/replication-cluster';
import { processUsage } from '../child-process.ts';

export const KIND = 'performance';
export const RECORD_BYTES = 1200;
const RECORDS_PER_COMMIT = 1000;
const WRITERS = 64;
const POLL_MS = 500;
/** CPU time within one poll below which a process counts as idle. */
const IDLE_CPU_MICROSECONDS = 40_000;

export interface Clusters extends AsyncDisposable {
  readonly nats: NatsServer;
  readonly primary: Cluster;
  readonly secondary: Cluster;
}

export const openClusters = async (): Promise<Clusters> => {
  const nats = await startNats({ jetstream: true });
  const [primary, secondary] = await Promise.all([startCluster(nats.url), startCluster(nats.url)]);
  return {
    nats,
    primary,
    secondary,
    async [Symbol.asyncDispose]() {
      await secondary.stop();
      await primary.stop();
      await nats[Symbol.asyncDispose]();
    },
  };
};

/** Waits until it has published or applied everything. */
export const untilIdle = async (cluster: Cluster): Promise<void> => {
  const used = (): number => processUsage(cluster.process().pid).cpuMicroseconds;
  for (let before = used(); ; ) {
    await delay(POLL_MS);
    const now = used();
    if (now - before <= IDLE_CPU_MICROSECONDS) return;
    before = now;
  }
};

/** Bytes as a store holds them: of a barrier that no cluster has, because nothing opens these records. */
const sealing = async () => {
  const folder = await temporaryDirectory();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: join(folder.path, 'keys.sqlite'), barrier });
  await openBarrierFor(store, barrier, new Uint8Array(32).fill(1));
  await store.close();
  await folder[Symbol.asyncDispose]();
  return (path: string, letter: string) => ({
    path,
    stored: barrier.encrypt(path, Buffer.alloc(RECORD_BYTES, letter)),
  });
};

const pathOf = (index: number): string => `shared/bench/${index}`;

/** The cluster's store of certificates, in this process while its own does not run. */
const withStore = async (
  cluster: Cluster,
  work: (store: Store) => Promise<unknown>,
): Promise<void> => {
  const file = join(cluster.process().dataFolder, 'pki.sqlite');
  await cluster.process().stop();
  const store = await openSqliteStore({
    file,
    barrier: createBarrier(),
    projections: PKI_PROJECTIONS,
  });
  await work(store);
  await store.close();
};

/** Stops the cluster and adds records to it, in large commits. @returns records/s of the store alone */
export const fill = async (cluster: Cluster, count: number): Promise<number> => {
  const seal = await sealing();
  let seconds = 0;
  await withStore(cluster, async (store) => {
    const startedAt = performance.now();
    for (let from = 0; from < count; from += RECORDS_PER_COMMIT) {
      const length = Math.min(RECORDS_PER_COMMIT, count - from);
      const records = Array.from({ length }, (_, index) => seal(pathOf(from + index), 'k'));
      await store.applyRecords('bench', records);
    }
    seconds = (performance.now() - startedAt) / 1000;
  });
  return count / seconds;
};

/** Stops the cluster and changes some of its records, evenly spread. */
export const makeDiffer = async (
  cluster: Cluster,
  differing: number,
  count: number,
): Promise<void> => {
  const seal = await sealing();
  await withStore(cluster, (store) =>
    store.applyRecords(
      'bench',
      Array.from({ length: differing }, (_, index) =>
        seal(pathOf(Math.floor((index * count) / differing)), 'x'),
      ),
    ),
  );
};

/** Records/s of a store in this process, each a commit of one of 64 callers. */
export const measureLocalWrites = async (count: number): Promise<number> => {
  await using folder = await temporaryDirectory();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: join(folder.path, 'local.sqlite'), barrier });
  await openBarrierFor(store, barrier, new Uint8Array(32).fill(1));
  const value = Buffer.alloc(RECORD_BYTES, 'k');
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, caller) => {
      for (let at = caller; at < count; at += WRITERS)
        await store.transact((tx) => tx.write(pathOf(at), value));
    }),
  );
  const perSecond = count / ((performance.now() - startedAt) / 1000);
  await store.close();
  return perSecond;
};
