import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import type { Lease, LeasesDefinition, RegisterLeaseRequest } from '@keelson/proto/sys/v1/cluster';
import type { RpcService } from '@keelson/rpc';
import type { Store, TransactOptions } from '@keelson/storage';
import type { EngineType } from '../mounts/engine-type-records.ts';
import { findMountRecord } from '../mounts/mount-records.ts';
import { findStoredToken } from '../tokens/token-records.ts';
import {
  afterFailedRevocation,
  endLease,
  type LeaseRecord,
  renewLease,
  ttlSeconds,
} from './domain/lease.ts';
import {
  deleteLease,
  findLease,
  finishEnding,
  forgetDue,
  type LeaseGroup,
  listEndings,
  listLeaseNames,
  listNextDue,
  noteLeasedMount,
  orderEnding,
  pageOfGroup,
  writeLease,
} from './lease-records.ts';

export interface LeaseDependencies {
  readonly store: Store;
  readonly clock: Clock;
  /** The mount with this uuid, as its engine knows it. */
  readonly findMount: (uuid: string) => Promise<Mount | undefined>;
  readonly engineTypes: () => Promise<ReadonlyMap<string, EngineType>>;
  /** By service name. */
  readonly engines: ReadonlyMap<string, RpcService<typeof EngineDefinition>>;
  /** Called when something has become due before its time. */
  readonly onEnd: () => void;
}

export interface LeaseOperations extends RpcService<typeof LeasesDefinition> {
  /** @throws KeelsonError `request.invalid` when unknown; so do the other calls that name one lease */
  lookup(namespaceId: string, id: string): Promise<LeaseRecord>;
  listNames(namespaceId: string, prefix: string): Promise<readonly string[]>;
  renew(namespaceId: string, id: string, incrementSeconds: number): Promise<LeaseRecord>;
  /** Unknown is success. `sync`: resolves after the engine took the secret back. */
  revoke(namespaceId: string, id: string, sync: boolean): Promise<void>;
  revokePrefix(namespaceId: string, prefix: string, sync: boolean): Promise<void>;
  /** Forgets the leases even where the engine refuses to take the secret back. */
  revokeForce(namespaceId: string, prefix: string): Promise<void>;
  /**
   * Ends all leases of a namespace that is being removed.
   * @returns false while some must be tried again, which `revokeDue` does
   */
  endNamespace(namespaceId: string): Promise<boolean>;
  listAll(namespaceId: string): AsyncIterable<LeaseRecord>;
  /** Those the worker has given up; costs as much as there are of them. */
  listIrrevocable(namespaceId: string): AsyncIterable<LeaseRecord>;
  /** One round of what is due; true when there may be more. */
  revokeDue(options: TransactOptions): Promise<boolean>;
}

const PORTION = 200;
/** Calls to engines at a time. */
const PARALLEL_REVOCATIONS = 8;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const withSlash = (prefix: string): string => {
  const path = prefix.split('/').filter((segment) => segment !== '');
  return path.length === 0 ? '' : `${path.join('/')}/`;
};

/** What an engine needs to know of a mount that no longer exists. */
const removedMount = ({ mountUuid, mountType }: LeaseRecord): Mount => ({
  uuid: mountUuid,
  accessor: '',
  type: mountType,
  path: '',
  namespace: undefined,
  local: false,
  defaultLeaseTtlSeconds: 0,
  maxLeaseTtlSeconds: 0,
  passthroughRequestHeaders: [],
  allowedResponseHeaders: [],
  options: {},
  description: '',
});

/** Leases of one store. */
export const createLeaseOperations = (dependencies: LeaseDependencies): LeaseOperations => {
  const { store, clock, findMount, engineTypes, engines, onEnd } = dependencies;
  const pages = async function* (group: LeaseGroup): AsyncGenerator<readonly LeaseRecord[]> {
    let after: string | undefined;
    do {
      const page = await pageOfGroup(store, group, { limit: PORTION, after });
      yield page.leases;
      after = page.next;
    } while (after !== undefined);
  };

  const revokeAtEngine = async (lease: LeaseRecord): Promise<void> => {
    const service = (await engineTypes()).get(lease.mountType)?.service ?? '';
    const engine = engines.get(service);
    if (engine === undefined)
      throw new KeelsonError('edge.backend_unavailable', { service: service || lease.mountType });
    await engine.revokeLease({
      mount: (await findMount(lease.mountUuid)) ?? removedMount(lease),
      leaseId: lease.id,
      engineData: Buffer.from(lease.engineDataBase64, 'base64'),
    });
  };

  /** Takes one secret back; a failure is recorded and thrown. */
  const revokeOne = async (lease: LeaseRecord, options: TransactOptions): Promise<void> => {
    try {
      await revokeAtEngine(lease);
    } catch (error) {
      await store.transact(async (tx) => {
        const current = await findLease(tx, lease.namespaceId, lease.id);
        if (current === undefined) return;
        const reason = KeelsonError.from(error).message;
        writeLease(tx, afterFailedRevocation(current, reason, clock.nowMs()), current);
      }, options);
      throw error;
    }
    await store.transact(async (tx) => {
      const current = await findLease(tx, lease.namespaceId, lease.id);
      if (current !== undefined) deleteLease(tx, current);
    }, options);
  };

  /** What cannot be revoked now is recorded and tried again. */
  const revokeAll = async (
    group: readonly LeaseRecord[],
    options: TransactOptions,
  ): Promise<void> => {
    const waiting = [...group];
    const work = async (): Promise<void> => {
      for (let lease = waiting.pop(); lease !== undefined; lease = waiting.pop()) {
        const current = lease;
        await revokeOne(current, options).catch((error: unknown) => {
          // A lost lease ends the whole round; a failing engine only this attempt.
          if (KeelsonError.from(error).code === 'storage.fenced') throw error;
        });
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_REVOCATIONS }, work));
  };

  const forget = (group: readonly LeaseRecord[]): Promise<void> =>
    store.transact(async (tx) => {
      for (const { namespaceId, id } of group) {
        const left = await findLease(tx, namespaceId, id);
        if (left !== undefined) deleteLease(tx, left);
      }
    });

  const endGroup = async (group: LeaseGroup, options: TransactOptions): Promise<void> => {
    for await (const page of pages(group))
      await store.transact(async (tx) => {
        const nowMs = clock.nowMs();
        for (const { namespaceId, id } of page) {
          const lease = await findLease(tx, namespaceId, id);
          if (lease !== undefined && lease.expiresAtMs > nowMs)
            writeLease(tx, endLease(lease, nowMs), lease);
        }
      }, options);
  };

  return {
    register: (request) => registerLease(dependencies, request),

    lookup: async (namespaceId, id) =>
      (await findLease(store, namespaceId, id)) ?? refuse('invalid lease'),

    listNames: (namespaceId, prefix) => listLeaseNames(store, namespaceId, withSlash(prefix)),

    renew: (namespaceId, id, incrementSeconds) =>
      store.transact(async (tx) => {
        const lease = (await findLease(tx, namespaceId, id)) ?? refuse('lease not found');
        const renewed = renewLease(lease, incrementSeconds, clock.nowMs());
        writeLease(tx, renewed, lease);
        return renewed;
      }),

    revoke: async (namespaceId, id, sync) => {
      const ended = await store.transact(async (tx) => {
        const lease = await findLease(tx, namespaceId, id);
        if (lease === undefined) return undefined;
        const result = endLease(lease, clock.nowMs());
        writeLease(tx, result, lease);
        return result;
      });
      if (ended === undefined) return;
      if (sync) await revokeOne(ended, {});
      else onEnd();
    },

    revokePrefix: async (namespaceId, prefix, sync) => {
      const group: LeaseGroup = { kind: 'prefix', namespaceId, prefix: withSlash(prefix) };
      if (!sync) {
        await store.transact((tx) => orderEnding(tx, group));
        onEnd();
        return;
      }
      for await (const page of pages(group)) for (const lease of page) await revokeOne(lease, {});
    },

    revokeForce: async (namespaceId, prefix) => {
      for await (const page of pages({ kind: 'prefix', namespaceId, prefix: withSlash(prefix) })) {
        await revokeAll(page, {});
        await forget(page);
      }
    },

    endNamespace: async (namespaceId) => {
      const all: LeaseGroup = { kind: 'prefix', namespaceId, prefix: '' };
      await endGroup(all, {});
      const nowMs = clock.nowMs();
      for await (const page of pages(all)) {
        const due = page.filter(({ dueAtMs }) => dueAtMs !== undefined && dueAtMs <= nowMs);
        await revokeAll(due, {});
      }
      let isOver = true;
      for await (const page of pages(all)) {
        const givenUp = page.filter(({ irrevocable }) => irrevocable !== undefined);
        isOver &&= givenUp.length === page.length;
        if (isOver) await forget(givenUp);
      }
      return isOver;
    },

    listAll: async function* (namespaceId) {
      for await (const page of pages({ kind: 'prefix', namespaceId, prefix: '' })) yield* page;
    },

    listIrrevocable: async function* (namespaceId) {
      for await (const page of pages({ kind: 'irrevocable', namespaceId })) yield* page;
    },

    revokeDue: async (options) => {
      const [ending] = await listEndings(store, 1);
      if (ending !== undefined) {
        const [key, group] = ending;
        await endGroup(group, options);
        await store.transact((tx) => finishEnding(tx, key), options);
        return true;
      }
      const nowMs = clock.nowMs();
      const due = (await listNextDue(store, PORTION)).filter(({ dueAtMs }) => dueAtMs <= nowMs);
      if (due.length === 0) return false;
      const found = await Promise.all(
        due.map(async ({ namespaceId, id, key }) => ({
          key,
          lease: await findLease(store, namespaceId, id),
        })),
      );
      const gone = found.filter(({ lease }) => lease === undefined);
      if (gone.length > 0)
        await store.transact((tx) => {
          for (const { key } of gone) forgetDue(tx, key);
        }, options);
      await revokeAll(
        found.flatMap(({ lease }) => lease ?? []),
        options,
      );
      return true;
    },
  };
};

const absent = (): never => {
  throw new KeelsonError('request.not_found', { text: 'no such mount' });
};

const registerLease = async (
  { store, clock, findMount }: LeaseDependencies,
  request: RegisterLeaseRequest,
): Promise<Lease> => {
  const mount = await findMount(request.mountUuid);
  if (mount === undefined) return absent();
  const token = { namespaceId: request.namespace?.id ?? 'root', hash: request.tokenHash };
  return store.transact(async (tx) => {
    // A mount that goes meanwhile would leave the lease behind.
    const record = await findMountRecord(tx, mount.namespace?.id ?? 'root', mount);
    if (record?.path !== mount.path) return absent();
    // Its end would not be noticed any more.
    if (request.tokenType !== 'batch' && (await findStoredToken(tx, token)) === undefined)
      throw new KeelsonError('sys.permission_denied');
    const nowMs = clock.nowMs();
    const latestSeconds = request.maxTtlSeconds || request.ttlSeconds;
    const expiresAtMs = nowMs + Math.min(request.ttlSeconds, latestSeconds) * 1000;
    const namespaceId = mount.namespace?.id ?? 'root';
    const suffix = namespaceId === 'root' ? '' : `.${namespaceId}`;
    const requestPath = withSlash(request.requestPath);
    const lease: LeaseRecord = {
      id: `${mount.path}${requestPath}${randomUUID()}${suffix}`,
      namespaceId,
      mountUuid: mount.uuid,
      mountType: mount.type,
      token,
      issuedAtMs: nowMs,
      expiresAtMs,
      latestExpiryMs: nowMs + latestSeconds * 1000,
      lastRenewalMs: undefined,
      renewable: request.renewable,
      engineDataBase64: Buffer.from(request.engineData).toString('base64'),
      failures: 0,
      dueAtMs: expiresAtMs,
      irrevocable: undefined,
    };
    writeLease(tx, lease, undefined);
    await noteLeasedMount(tx, mount.uuid, { namespaceId, path: mount.path });
    return { leaseId: lease.id, ttlSeconds: ttlSeconds(lease, nowMs), renewable: lease.renewable };
  });
};
