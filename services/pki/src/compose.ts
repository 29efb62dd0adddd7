/** The composition root of the certificate authority. */
export { revocationRecords } from './certificates/revocation-records.ts';

import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import {
  composeServiceReplication,
  forwardingRoutes,
  type ReplicationMember,
  type ReplicationParts,
} from '@keelson/cluster-member';
import { createEdgeService, type EdgeService, type Route } from '@keelson/edge';
import {
  edgeWhileOpen,
  followMounts,
  MountCleaning,
  type MountFollower,
  type MountScope,
  type ThisCluster,
  whileOpen,
} from '@keelson/engine';
import { historyWork } from '@keelson/history';
import { type LeaseStore, runPeriodically, Wakeup } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { MetricsRegistry } from '@keelson/metrics';
import type { ClientCertificatesDefinition } from '@keelson/proto/auth/v1/client_certificates';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import type { ClientAuthoritiesDefinition } from '@keelson/proto/pki/v1/client_authorities';
import type { EnrolmentDefinition } from '@keelson/proto/pki/v1/enrolment';
import type { ClusterDefinition, LeasesDefinition } from '@keelson/proto/sys/v1/cluster';
import type { IdentitiesDefinition } from '@keelson/proto/sys/v1/identities';
import type { ReplicationMemberDefinition } from '@keelson/proto/sys/v1/replication';
import type { RpcService } from '@keelson/rpc';
import { startWorker, VERSION, type Worker } from '@keelson/runtime';
import {
  createSecretsErrorRenderer,
  envelopeWarnings,
  secretsComponents,
} from '@keelson/secrets-api';
import { type Barrier, type Store, takeFence } from '@keelson/storage';
import { type AcmeService, createAcmeService } from './acme/acme-service.ts';
import type { OpenOrderLimits } from './acme/orders/open-orders.ts';
import { authorityUrlRoutes } from './authority-urls/authority-url-routes.ts';
import { certificateListRoutes } from './certificates/certificate-list-routes.ts';
import { certificateRoutes } from './certificates/certificate-routes.ts';
import { clusterListRoutes } from './clusters/cluster-list-routes.ts';
import { keyBanRoutes } from './clusters/key-ban-routes.ts';
import { applyOutbox } from './clusters/outbox-contents.ts';
import { acceptingOutboxes, forwardOutbox } from './clusters/outbox-forwarding.ts';
import type { PkiConfig } from './config.ts';
import { type CrlBuilder, createCrlBuilder } from './crl/build/crl-builder.ts';
import { crlRoutes } from './crl/crl-routes.ts';
import { crlConfigRoutes } from './crl-config/crl-config-routes.ts';
import type { EstParts } from './est/enrolment-operations.ts';
import { estConfigRoutes } from './est/est-config-routes.ts';
import { estRoutes } from './est/est-routes.ts';
import { registerExpiryMetrics } from './expiry-metrics.ts';
import { createAcmeIssuance } from './external-policy/acme-issuance.ts';
import {
  type ExternalPolicyRouteParts,
  externalPolicyRoutes,
} from './external-policy/external-policy-routes.ts';
import { PolicyCalls } from './external-policy/policy-calls.ts';
import {
  type PolicyServiceRouteParts,
  policyServiceRoutes,
} from './external-policy/policy-service-routes.ts';
import { createUnstoredView } from './external-policy/unstored-view.ts';
import { importRoutes } from './issuers/import-routes.ts';
import { intermediateRoutes } from './issuers/intermediate-routes.ts';
import { issuerFetchRoutes } from './issuers/issuer-fetch-routes.ts';
import { createAuthorities, issuerWithKey } from './issuers/issuer-records.ts';
import { issuerRoutes } from './issuers/issuer-routes.ts';
import { rootRoutes } from './issuers/root-routes.ts';
import { caSigningRoutes } from './issuing/ca-signing-routes.ts';
import { CertificateMaker } from './issuing/certificate-maker.ts';
import { type IssuingRouteParts, issuingRoutes } from './issuing/issuing-routes.ts';
import { createCompromisedKeys } from './keys/compromised-keys.ts';
import { keyRoutes } from './keys/key-routes.ts';
import { createPkiCounters, type PkiCounters } from './metrics/counters.ts';
import { createMountHistory, historyRoutes, type MountHistory } from './metrics/mount-history.ts';
import { createOcspResponder, type OcspResponder } from './ocsp/ocsp-operations.ts';
import { ocspRoutes } from './ocsp/ocsp-routes.ts';
import type { RevocationParts } from './revocation/revocation-operations.ts';
import { revocationRoutes } from './revocation/revocation-routes.ts';
import { rolesNaming } from './roles/role-operations.ts';
import { roleRoutes } from './roles/role-routes.ts';
import { createClientAuthorities } from './rpc/client-authorities-rpc.ts';
import { createEngine } from './rpc/engine-rpc.ts';
import { createEnrolment } from './rpc/enrolment-rpc.ts';
import { isUnauthenticated, PKI_ENGINE } from './special-paths.ts';
import { tidyRoutes } from './tidy/tidy-routes.ts';
import { createTidyRunner, type TidyRunner } from './tidy/tidy-runner.ts';
import { runAutoTidy } from './workers/auto-tidy.ts';
import { runCrlUpkeep } from './workers/crl-upkeep.ts';

export { PKI_PROJECTIONS } from './certificates/certificate-projections.ts';

/** Used until sys has sent the cluster's id, which it does before it sends the key. */
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
  readonly identities: RpcService<typeof IdentitiesDefinition>;
  /** Tells which certificates sign in, where roles of the method cert say who enrolls by EST. */
  readonly clientCertificates: RpcService<typeof ClientCertificatesDefinition>;
  /** Whether other processes or threads serve the same mounts from the same store. */
  readonly hasReplicas?: boolean;
  /** Processors for this service; all of the machine if absent. */
  readonly processors?: number | undefined;
  /** Limits of ACME accounts, instead of the defaults. */
  readonly openOrderLimits?: OpenOrderLimits | undefined;
  readonly replication?: ReplicationParts | undefined;
  /** Metrics of the process. */
  readonly registry: MetricsRegistry;
}

export interface PkiService {
  readonly edge: EdgeService;
  readonly engine: RpcService<typeof EngineDefinition>;
  /** Where EST requests go, for the gateway. */
  readonly enrolment: RpcService<typeof EnrolmentDefinition>;
  /** Mounts whose certificates sign in, for the auth methods. */
  readonly clientAuthorities: RpcService<typeof ClientAuthoritiesDefinition>;
  /** This service's part in replication, for sys. */
  readonly replica: RpcService<typeof ReplicationMemberDefinition>;
  /** Resolves once the service has followed the cluster's state for the first time, or has failed to. */
  readonly joined: Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface SharedParts extends IssuingRouteParts, RevocationParts, EstParts {
  readonly counters: PkiCounters;
  readonly history: MountHistory;
  readonly crlBuilder: CrlBuilder;
  readonly logger: Logger;
}

interface Composed {
  readonly responder: OcspResponder;
  readonly tidy: TidyRunner;
  readonly acme: AcmeService;
}

const pkiRoutes = (
  shared: SharedParts,
  policy: ExternalPolicyRouteParts & PolicyServiceRouteParts,
  { responder, tidy, acme }: Composed,
): readonly Route[] => {
  const { store, authorities, clock, logger } = shared;
  return [
    ...rootRoutes(shared),
    ...importRoutes(shared),
    ...intermediateRoutes(shared),
    ...issuerRoutes({ ...shared, rolesNaming }),
    ...issuerFetchRoutes(shared),
    ...keyRoutes({ store, issuerWithKey }),
    ...keyBanRoutes(shared),
    ...roleRoutes(store),
    ...issuingRoutes(shared),
    ...caSigningRoutes(shared),
    ...certificateListRoutes({ store, clock }),
    ...certificateRoutes(store),
    ...historyRoutes(shared.history),
    ...revocationRoutes(shared),
    ...clusterListRoutes(store),
    ...crlConfigRoutes(shared),
    ...crlRoutes(shared),
    ...ocspRoutes({ authorities, responder, clock, logger }),
    ...tidyRoutes({ store, tidy }),
    ...authorityUrlRoutes(store),
    ...acme.routes,
    ...policyServiceRoutes(policy),
    ...externalPolicyRoutes(policy),
    ...estConfigRoutes(shared),
    ...estRoutes(shared),
  ];
};

/** Applies the outbox of a mount, or sends it to the primary that does. */
const outboxCarrier =
  (store: Store, member: ReplicationMember, logger: Logger, cluster: () => ThisCluster) =>
  async (mount: MountScope): Promise<void> => {
    if (!cluster().isSecondary) return applyOutbox(store, mount);
    try {
      await forwardOutbox(member, store, mount);
    } catch (err) {
      // The outbox is kept; the upkeep worker retries.
      logger.warn({ err, mount: mount.uuid }, 'the outbox could not be sent to the primary');
    }
  };

const pkiEdge = (
  store: Store,
  member: ReplicationMember,
  logger: Logger,
  routes: readonly Route[],
): EdgeService =>
  createEdgeService({
    service: 'pki',
    version: VERSION,
    pathPrefix: '/v1/{mount}',
    title: 'Keelson certificate authority',
    text: 'Issuers, keys, roles, certificates, revocation, CRLs, OCSP, ACME, EST and external policy of one mount. Begin with `root/generate`, which makes an issuer, and `roles/{name}`; `issue/{role}` with a `common_name` then answers with a certificate and its key. PUT is the same as POST.',
    components: secretsComponents,
    loadExamples: async () =>
      (await import('./answer-examples.json', { with: { type: 'json' } })).default,
    isPublic: isUnauthenticated,
    check: async () => {
      await store.requireUsable();
      return member.impaired();
    },
    position: () => store.position(),
    routes: forwardingRoutes(member, envelopeWarnings, routes),
    renderError: createSecretsErrorRenderer((err, requestId) =>
      logger.error({ err, request_id: requestId }, 'request failed'),
    ),
  });

const startPkiWorkers = ({
  shared,
  follower,
  member,
  tidy,
  acme,
  upkeepWakeup,
  mounts,
}: {
  readonly shared: SharedParts & Pick<PkiParts, 'leases'>;
  readonly follower: MountFollower;
  readonly member: ReplicationMember;
  readonly tidy: TidyRunner;
  readonly acme: AcmeService;
  readonly upkeepWakeup: Wakeup;
  readonly mounts: () => readonly Mount[];
}): readonly Worker[] => {
  const isInSet = () => member.roleOf('performance') !== undefined;
  const { store, clock, leases, history } = shared;
  const takingFence = (lease: string) => takeFence(store, lease);
  const upkeep = { ...shared, isInSet, wakeup: upkeepWakeup, mounts };
  const work = {
    'cluster state': (signal: AbortSignal) => followMounts(follower, signal),
    'crl upkeep': (signal: AbortSignal) => runCrlUpkeep(upkeep, signal),
    'auto tidy': (signal: AbortSignal) => runAutoTidy({ ...shared, tidy, mounts }, signal),
    history: (signal: AbortSignal) =>
      runPeriodically(
        { name: 'pki/history', leases, clock, takeFence: takingFence },
        historyWork(history),
        signal,
      ),
    ...acme.workers,
  };
  return Object.entries(work).map(([name, run]) => startWorker(name, run, shared));
};

export const composePki = (parts: PkiParts): PkiService => {
  const { barrier, leases, clock, cluster, ledger, identities, clientCertificates } = parts;
  const logger = parts.logger.child({ service: 'pki' });
  const {
    store,
    member,
    rpc: replica,
  } = composeServiceReplication(parts, {
    service: 'pki',
    logger,
  });
  const stopping = new AbortController();
  const authorities = createAuthorities(store);
  let thisCluster = UNNAMED_CLUSTER;
  const carry = outboxCarrier(store, member, logger, () => thisCluster);
  const crlBuilder = createCrlBuilder({
    cluster: () => thisCluster,
    carry,
    store,
    authorities,
    leases,
    clock,
    stopping: stopping.signal,
  });
  const responder = createOcspResponder({
    store,
    authorities,
    clock,
    mayHaveUnstored: createUnstoredView(store),
  });
  let mounts: readonly Mount[] = [];
  const history = createMountHistory({
    store,
    clock,
    mounts: () => mounts,
    mayWrite: () => !barrier.isSealed && member.gate.closed !== 'all',
  });
  const counters = createPkiCounters(parts.registry, history);
  const shared = {
    store,
    cluster: () => thisCluster,
    carry,
    authorities,
    maker: new CertificateMaker(logger, (mount) => counters.issued.inc(mount), parts.processors),
    compromisedKeys: createCompromisedKeys(store),
    crlBuilder,
    clock,
    logger,
    leases,
    ledger,
    identities,
    clientCertificates,
    counters,
    history,
  };
  const policyCalls = new PolicyCalls(clock);
  const isPerformanceSecondary = () => member.roleOf('performance')?.role === 'secondary';
  const policy = { ...shared, policyCalls, isPerformanceSecondary };
  const tidy = createTidyRunner({ ...shared, stopping: stopping.signal });
  registerExpiryMetrics(parts.registry, { ...shared, barrier, mounts: () => mounts });
  const upkeepWakeup = new Wakeup();
  const acme = createAcmeService({
    ...shared,
    config: parts.config,
    openOrderLimits: parts.openOrderLimits,
    policy: createAcmeIssuance(policy),
    hasReplicas: parts.hasReplicas === true,
    processors: parts.processors,
    stopping: stopping.signal,
    mounts: () => mounts,
  });
  const routes = pkiRoutes(shared, policy, { responder, tidy, acme });
  const edge = pkiEdge(store, member, logger, routes);
  member.serve(acceptingOutboxes(store, edge));
  const joined = Promise.withResolvers<void>();
  const follower = {
    store,
    barrier,
    cluster,
    logger,
    replication: member,
    cleaning: new MountCleaning(store),
    instanceId: randomUUID(),
    version: VERSION,
    service: 'pki',
    engines: [PKI_ENGINE],
    onSealed: () => {
      authorities.clear();
      responder.clear();
      policyCalls.clear();
      void shared.maker.forget();
    },
    onCluster: (current: ThisCluster) => {
      thisCluster = current;
    },
    onMounts: (current: readonly Mount[]) => {
      mounts = current;
      acme.onMounts();
      upkeepWakeup.notify();
    },
    onFollowed: joined.resolve,
  };
  const enrolment = createEnrolment(store, () => mounts);
  const clientAuthorities = createClientAuthorities({ store, authorities, mounts: () => mounts });
  let workers: readonly Worker[] = [];
  return {
    edge: edgeWhileOpen(edge, barrier),
    enrolment: {
      locate: (request) => whileOpen(barrier, () => enrolment.locate(request)),
    },
    clientAuthorities: {
      findMounts: (request) => whileOpen(barrier, () => clientAuthorities.findMounts(request)),
      readAuthorities: (request) =>
        whileOpen(barrier, () => clientAuthorities.readAuthorities(request)),
    },
    engine: createEngine(shared),
    replica,
    joined: joined.promise,
    start: () => {
      workers = startPkiWorkers({
        shared,
        follower,
        member,
        tidy,
        acme,
        upkeepWakeup,
        mounts: () => mounts,
      });
      return Promise.resolve();
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(workers.map((worker) => worker.stop()));
      await tidy.settled();
      await history.write().catch((err: unknown) => {
        logger.warn({ err }, 'what happened in the last minute is not in the history');
      });
      await member.stop();
      await shared.maker.forget();
      workers = [];
    },
  };
};
