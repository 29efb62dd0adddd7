/** The whole service on a store in a temporary folder, driven through the interface the gateway uses. */

import { join } from 'node:path';
import { ManualClock } from '@keelson/clock';
import { parseConfig } from '@keelson/config';
import {
  type Answer,
  aMount,
  announcedCluster,
  callMount,
  type CallOptions as MountCallOptions,
} from '@keelson/engine/testing';
import { KeelsonError } from '@keelson/errors';
import { InProcessLeaseStore } from '@keelson/locks';
import { createLogger } from '@keelson/logging';
import { createRegistry } from '@keelson/metrics';
import type { ClusterState, RegisterLeaseRequest } from '@keelson/proto/sys/v1/cluster';
import type { FindIdentityValuesRequest } from '@keelson/proto/sys/v1/identities';
import { createBarrier, openBarrierFor, openSqliteStore } from '@keelson/storage';
import { composePki, PKI_PROJECTIONS, type PkiParts, type PkiService } from '../src/compose.ts';
import { pkiConfigSchema } from '../src/config.ts';

export { type Answer, aMount, ROOT_NAMESPACE } from '@keelson/engine/testing';

export interface CallOptions extends MountCallOptions {
  /** A replica; the first service when absent. */
  readonly service?: PkiService;
}

const ROOT_KEY = Buffer.alloc(32, 7);

/** Certificates are checked by tools that read the real clock. */
const startOfTest = Math.floor(Date.now() / 1000) * 1000;

/** An installation without mounts of the method cert. */
const NO_AUTH: PkiParts['clientCertificates'] = {
  findRole: () => Promise.resolve({ hasMount: false, hasRole: false }),
  judge: () => Promise.resolve({ isAccepted: false }),
};

/**
 * @param environment settings of the process
 * @param options `hasReplicas`: others may serve from the same store (`openReplica`)
 */
export const openPki = async (
  folder: string,
  environment: Readonly<Record<string, string>> = {},
  { hasReplicas, openOrderLimits }: Pick<PkiParts, 'hasReplicas' | 'openOrderLimits'> = {},
) => {
  const clock = new ManualClock(startOfTest);
  const barrier = createBarrier();
  const store = await openSqliteStore({
    file: join(folder, 'pki.sqlite'),
    barrier,
    clock,
    projections: PKI_PROJECTIONS,
  });
  const leases = new InProcessLeaseStore({ clock });
  const registered: RegisterLeaseRequest[] = [];
  const asked: FindIdentityValuesRequest[] = [];
  const full = new Set<string>();
  const entities = new Map<string, Record<string, string>>();
  const cluster = announcedCluster();
  const compose = (settings = environment) =>
    composePki({
      registry: createRegistry('test'),
      ...(hasReplicas && { hasReplicas }),
      openOrderLimits,
      config: parseConfig(pkiConfigSchema, settings),
      store,
      barrier,
      leases,
      clock,
      logger: createLogger({ name: 'pki', level: 'silent' }),
      cluster: cluster.rpc,
      identities: {
        findValues: (request) => {
          asked.push(request);
          const known = entities.get(`${request.namespaceId}/${request.entityId}`);
          const values = Object.entries(known ?? {}).filter(([parameter]) =>
            request.parameters.includes(parameter),
          );
          return Promise.resolve({ values: Object.fromEntries(values) });
        },
      },
      clientCertificates: NO_AUTH,
      ledger: {
        register: async (request) => {
          registered.push(request);
          return {
            leaseId: `pki/${request.requestPath}/1`,
            ttlSeconds: request.ttlSeconds,
            renewable: false,
          };
        },
        requireRoom: async ({ requestPath }) => {
          if (full.has(requestPath))
            throw new KeelsonError('request.lease_quota_exceeded', { path: requestPath });
          return {};
        },
      },
    });
  const service = compose();
  await openBarrierFor(store, barrier, ROOT_KEY);
  const mount = aMount();

  const call = (
    method: string,
    path: string,
    body?: unknown,
    { service: called = service, ...options }: CallOptions = {},
  ): Promise<Answer> =>
    callMount(called.edge, '/mount', [method, path, body], { mount, ...options });

  return {
    call,
    clock,
    store,
    leases,
    barrier,
    mount,
    service,
    /** Another service on the same store, with the same settings unless others are given. */
    openReplica: (settings?: Readonly<Record<string, string>>) => ({
      service: compose(settings),
      mount,
    }),
    registered,
    /** Requests for the values of callers. */
    asked,
    /** Paths below the mount at which a quota allows no further lease. */
    full,
    /** Values of callers, by namespace id and entity id. */
    entities,
    announce: cluster.announce,
    /** Starts the service as a member of a cluster in this state. */
    join: async (state: ClusterState): Promise<void> => {
      await service.start();
      await cluster.join(state);
    },
    close: async () => {
      await service.stop();
      await store.close();
    },
  };
};

export type OpenPki = Awaited<ReturnType<typeof openPki>>;
