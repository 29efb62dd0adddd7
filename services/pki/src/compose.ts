/** The composition root of the certificate authority. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import {
  composeServiceReplication,
  forwardingRoutes,
  type ReplicationParts,
} from '@keelson/cluster-member';
import { createEdgeService, type EdgeService, type Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { type LeaseStore, Wakeup } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import type { EnrolmentDefinition } from '@keelson/proto/pki/v1/enrolment';
import type { ClusterDefinition, LeasesDefinition } from '@keelson/proto/sys/v1/cluster';
import type { ReplicationMemberDefinition } from '@keelson/proto/sys/v1/replication';
import type { RpcService } from '@keelson/rpc';
import { startWorker, VERSION, type Worker } from '@keelson/runtime';
import { createSecretsErrorRenderer, renderSecretsError } from '@keelson/secrets-api';
import type { Barrier, Store } from '@keelson/storage';
import { createAcmeService } from './acme/acme-service.ts';
import { authorityUrlRoutes } from './authority-urls/authority-url-routes.ts';
import { certificateListRoutes } from './certificates/certificate-list-routes.ts';
import { certificateRoutes } from './certificates/certificate-routes.ts';
import { clusterListRoutes } from './clusters/cluster-list-routes.ts';
import type { ThisCluster } from './clusters/cluster-records.ts';
import { carryOutbox } from './clusters/outbox.ts';
import { acceptingOutboxes, forwardOutbox } from './clusters/outbox-forwarding.ts';
import type { PkiConfig } from './config.ts';
import { createCrlBuilder } from './crl/crl-builder.ts';
import { crlRoutes } from './crl/crl-routes.ts';
import { estConfigRoutes } from './est/est-config-routes.ts';
import { estRoutes } from './est/est-routes.ts';
import { createAcmeIssuance } from './external-policy/acme-issuance.ts';
import { externalPolicyRoutes } from './external-policy/external-policy-routes.ts';
import { PolicyCalls } from './external-policy/policy-calls.ts';
import { policyServiceRoutes } from './external-policy/policy-service-routes.ts';
import { importRoutes } from './issuers/import-routes.ts';
import { intermediateRoutes } from './issuers/intermediate-routes.ts';
import { createAuthorities } from './issuers/issuer-records.ts';
import { issuerRoutes } from './issuers/issuer-routes.ts';
import { rootRoutes } from './issuers/root-routes.ts';
import { caSigningRoutes } from './issuing/ca-signing-routes.ts';
import { issuingRoutes } from './issuing/issuing-routes.ts';
import { keyRoutes } from './keys/key-routes.ts';
import { createCertificateMaker } from './making/certificate-maker.ts';
import { MountCleaning } from './mounts/mount-cleaning.ts';
import { type MountScope, REPLICATED_AREAS } from './mounts/mount-records.ts';
import { createOcspResponder } from './ocsp/ocsp-operations.ts';
import { ocspRoutes } from './ocsp/ocsp-routes.ts';
import { createCompromisedKeys } from './revocation/compromised-keys.ts';
import { revocationRoutes } from './revocation/revocation-routes.ts';
import { roleRoutes } from './roles/role-routes.ts';
import { createEngine } from './rpc/engine-rpc.ts';
import { createEnrolment } from './rpc/enrolment-rpc.ts';
import { tidyRoutes } from './tidy/tidy-routes.ts';
import { createTidyRunner } from './tidy/tidy-runner.ts';
import { runAutoTidy } from './workers/auto-tidy.ts';
import { followCluster } from './workers/cluster-state.ts';
import { runCrlUpkeep } from './workers/crl-upkeep.ts';

export { PKI_PROJECTIONS } from './certificates/certificate-projections.ts';
export { revocationRecords } from './certificates/certificate-records.ts';
export { pkiConfigSchema } from './config.ts';

/** A cluster of which sys has not told, which it does before it hands out the key. */
const UNNAMED_CLUSTER: ThisCluster = { id: 'unnamed', isSecondary: false };

export interface PkiParts {
  readonly config: PkiConfig;
  readonly store: Store;
  readonly barrier: Barrier;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly cluster: RpcService<typeof ClusterDefinition>;
  readonly ledger: RpcService<typeof LeasesDefinition>;
  /** Other processes serve the same mounts from the same store. */
  readonly hasReplicas?: true;
  readonly replication?: ReplicationParts | undefined;
}

export interface PkiService {
  readonly edge: EdgeService;
  readonly engine: RpcService<typeof EngineDefinition>;
  /** Where EST requests go, for the gateway. */
  readonly enrolment: RpcService<typeof EnrolmentDefinition>;
  /** This service's part in replication, for sys. */
  readonly replica: RpcService<typeof ReplicationMemberDefinition>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Answers nothing while the barrier is sealed: what is cached must not outlive the key. */
const unsealedOnly = (edge: EdgeService, barrier: Barrier): EdgeService => ({
  handle: (request) =>
    barrier.isSealed
      ? Promise.resolve(renderSecretsError(new KeelsonError('sys.sealed')))
      : edge.handle(request),
  describe: () => edge.describe(),
  check: () => edge.check(),
});

export const composePki = (parts: PkiParts): PkiService => {
  const { barrier, leases, clock, cluster, ledger } = parts;
  const logger = parts.logger.child({ service: 'pki' });
  const {
    store,
    member,
    rpc: replica,
  } = composeServiceReplication(parts, {
    service: 'pki',
    logger,
    areas: REPLICATED_AREAS,
    edge: () => acceptingOutboxes(store, edge),
  });
  const stopping = new AbortController();
  const authorities = createAuthorities(store);
  let thisCluster = UNNAMED_CLUSTER;
  const carry = async (mount: MountScope): Promise<void> => {
    if (!thisCluster.isSecondary) return carryOutbox(store, mount);
    try {
      await forwardOutbox(member, store, mount);
    } catch (err) {
      // It stays where it is; the upkeep worker comes again.
      logger.warn({ err, mount: mount.uuid }, 'the primary could not be told');
    }
  };
  const crlBuilder = createCrlBuilder({
    cluster: () => thisCluster,
    carry,
    store,
    authorities,
    leases,
    clock,
    stopping: stopping.signal,
  });
  const responder = createOcspResponder({ store, authorities, clock });
  const maker = createCertificateMaker(logger);
  const shared = {
    store,
    cluster: () => thisCluster,
    carry,
    authorities,
    maker,
    compromisedKeys: createCompromisedKeys(store),
    crlBuilder,
    clock,
    logger,
    leases,
    ledger,
  };
  const policyCalls = new PolicyCalls(clock);
  const isPerformanceSecondary = () => member.roleOf('performance')?.role === 'secondary';
  const policy = { ...shared, policyCalls, isPerformanceSecondary };
  const tidy = createTidyRunner({ ...shared, stopping: stopping.signal });
  let mounts: readonly Mount[] = [];
  const upkeepWakeup = new Wakeup();
  const acme = createAcmeService({
    ...shared,
    config: parts.config,
    policy: createAcmeIssuance(policy),
    hasReplicas: parts.hasReplicas === true,
    stopping: stopping.signal,
    mounts: () => mounts,
  });
  const routes: readonly Route[] = [
    ...rootRoutes(shared),
    ...importRoutes(shared),
    ...intermediateRoutes(shared),
    ...issuerRoutes(shared),
    ...keyRoutes(shared),
    ...roleRoutes(store),
    ...issuingRoutes(shared),
    ...caSigningRoutes(shared),
    ...certificateListRoutes(store),
    ...certificateRoutes(shared),
    ...revocationRoutes(shared),
    ...clusterListRoutes(shared),
    ...crlRoutes(shared),
    ...ocspRoutes({ authorities, responder, logger }),
    ...tidyRoutes({ store, tidy }),
    ...authorityUrlRoutes(store, authorities),
    ...acme.routes,
    ...policyServiceRoutes(policy),
    ...externalPolicyRoutes(policy),
    ...estConfigRoutes(shared),
    ...estRoutes(shared),
  ];
  const edge: EdgeService = createEdgeService({
    service: 'pki',
    version: VERSION,
    pathPrefix: '/v1/{mount}',
    check: async () => {
      await store.position();
      return member.impaired();
    },
    routes: forwardingRoutes(member, routes),
    renderError: createSecretsErrorRenderer((err, requestId) =>
      logger.error({ err, request_id: requestId }, 'request failed'),
    ),
  });
  const follower = {
    store,
    barrier,
    cluster,
    logger,
    replication: member,
    cleaning: new MountCleaning(store),
    instanceId: randomUUID(),
    version: VERSION,
    onSealed: () => {
      authorities.clear();
      responder.clear();
      policyCalls.clear();
      void maker.forget();
    },
    onCluster: (current: ThisCluster) => {
      thisCluster = current;
    },
    onMounts: (current: readonly Mount[]) => {
      mounts = current;
      acme.onMounts();
      upkeepWakeup.ring();
    },
  };
  let workers: readonly Worker[] = [];
  return {
    edge: unsealedOnly(edge, barrier),
    engine: createEngine(shared),
    enrolment: createEnrolment(store, () => mounts),
    replica,
    start: () => {
      const supervision = { logger, clock };
      workers = [
        startWorker('cluster state', (signal) => followCluster(follower, signal), supervision),
        startWorker(
          'crl upkeep',
          (signal) =>
            runCrlUpkeep(
              {
                ...shared,
                isInSet: () => member.roleOf('performance') !== undefined,
                wakeup: upkeepWakeup,
                mounts: () => mounts,
              },
              signal,
            ),
          supervision,
        ),
        startWorker(
          'auto tidy',
          (signal) => runAutoTidy({ ...shared, tidy, mounts: () => mounts }, signal),
          supervision,
        ),
        ...Object.entries(acme.workers).map(([name, run]) => startWorker(name, run, supervision)),
      ];
      return Promise.resolve();
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(workers.map((worker) => worker.stop()));
      await tidy.settled();
      await member.stop();
      await maker.forget();
      workers = [];
    },
  };
};
