/** A primary and a secondary of one service in this process, over a nats-server of its own. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JetStreamBus } from '@keelson/bus/jetstream';
import { InProcessLeaseStore } from '@keelson/locks';
import {
  FilterViews,
  generateLinkKeyPair,
  NO_GROUPS,
  Primary,
  Secondary,
  type SecondaryStatus,
  StoredMembership,
  WalPublisher,
} from '@keelson/replication';
import {
  type Barrier,
  createBarrier,
  loadWrappedKeyring,
  openBarrierFor,
  openSqliteStore,
  type Store,
} from '@keelson/storage';
import { startNats } from '@keelson/testkit';

const KIND = 'performance';
const SERVICE = 'pki';
const ROOT_KEY = new Uint8Array(32).fill(1);

export interface Clusters extends AsyncDisposable {
  readonly primary: {
    readonly store: Store;
    readonly barrier: Barrier;
    readonly bus: JetStreamBus;
  };
  readonly secondary: { readonly store: Store };
  /** Begins to publish, as another log when it is not the first time. */
  publish(): Promise<{ stop(): Promise<void> }>;
  startSecondary(): void;
  status(): SecondaryStatus;
  /** Asked for in ascending order. */
  untilApplied(sequence: number): Promise<void>;
  until(predicate: (status: SecondaryStatus) => boolean): Promise<void>;
}

export const openClusters = async (): Promise<Clusters> => {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-bench-'));
  const nats = await startNats({ jetstream: true });
  const open = async (name: string) => {
    const barrier = createBarrier();
    const store = await openSqliteStore({ file: join(folder, `${name}.db`), barrier });
    await openBarrierFor(store, barrier, ROOT_KEY);
    return { store, barrier, bus: new JetStreamBus({ servers: nats.url }) };
  };
  const primary = await open('primary');
  const secondary = await open('secondary');
  const leases = new InProcessLeaseStore();
  const membership = new StoredMembership(primary.store, KIND);
  const clusterId = randomUUID();
  await membership.found(clusterId);
  const keys = generateLinkKeyPair();
  const secondaryId = 'secondary';
  await membership.admit(secondaryId, keys.publicKey);
  const ending = new AbortController();
  await new Primary({
    ...primary,
    membership,
    views: new FilterViews({ store: primary.store, membership, kind: KIND, groups: NO_GROUPS }),
    kind: KIND,
    service: SERVICE,
    handover: async () => ({
      rootKey: Uint8Array.from(ROOT_KEY),
      wrappedKeyring: await loadWrappedKeyring(primary.store),
    }),
    clusterAddresses: async () => [nats.url],
  }).serve(ending.signal);
  const { keys: primaryKeys } = await membership.identity();
  const follower = new Secondary({
    ...secondary,
    leases: new InProcessLeaseStore(),
    kind: KIND,
    service: SERVICE,
    identity: { clusterId, secondaryId, keys, primaryPublicKey: primaryKeys.publicKey },
    apiAddress: '',
    clusterAddress: '',
  });
  const running: Promise<void>[] = [];
  /** In the order of their sequences: thousands may wait, and each change looks at the first only. */
  const waiting: { readonly sequence: number; readonly resolve: () => void }[] = [];
  follower.onChange(() => {
    const { lastRemoteWal } = follower.status();
    while ((waiting[0]?.sequence ?? Number.POSITIVE_INFINITY) <= lastRemoteWal)
      waiting.shift()?.resolve();
  });
  return {
    primary,
    secondary,
    publish: async () => {
      await membership.renewLog();
      const stopping = new AbortController();
      const publisher = new WalPublisher({
        ...primary,
        leases,
        membership,
        kind: KIND,
        service: SERVICE,
      });
      const publishing = publisher.run(AbortSignal.any([ending.signal, stopping.signal]));
      running.push(publishing);
      return {
        stop: async () => {
          stopping.abort();
          await publishing;
        },
      };
    },
    startSecondary: () => running.push(follower.run(ending.signal)),
    status: () => follower.status(),
    until: async (predicate) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = (): void => {
        if (predicate(follower.status())) resolve();
      };
      const forget = follower.onChange(check);
      check();
      await promise;
      forget();
    },
    untilApplied: (sequence) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (follower.status().lastRemoteWal >= sequence) resolve();
      else waiting.push({ sequence, resolve });
      return promise;
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await Promise.all(running);
      for (const { store, bus } of [primary, secondary]) {
        await bus.close();
        await store.close();
      }
      await nats[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
};
