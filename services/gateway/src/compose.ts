/** The composition root of the gateway. */
import type { RequestListener } from 'node:http';
import type { Clock } from '@keelson/clock';
import type { EdgeService } from '@keelson/edge';
import type { Logger } from '@keelson/logging';
import { type MetricsRegistry, threadMetrics } from '@keelson/metrics';
import type { EnrolmentDefinition } from '@keelson/proto/pki/v1/enrolment';
import type { AccessDefinition } from '@keelson/proto/sys/v1/access';
import type { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import type { WorkloadIdentityDefinition } from '@keelson/proto/workspace/v1/workload_identity';
import type { RpcService } from '@keelson/rpc';
import { startWorker, type Worker } from '@keelson/runtime';
import { createCertificateQuestion } from './access/certificate-question.ts';
import { createServeApiV2 } from './api-v2/serve-api-v2.ts';
import { createApplication } from './application.ts';
import { type AuditLog, createAuditLog } from './audit/audit-log.ts';
import { createAuditRecorder } from './audit/audit-recorder.ts';
import type { RecentRequest } from './audit/domain/recent-request.ts';
import { withRecentRequests } from './audit/recent-requests.ts';
import { withRestoredDevices } from './audit/restored-devices.ts';
import { type GatewayConfig, requireConsistent } from './config.ts';
import { ANONYMOUS_PART, createBodyBudget } from './limits/body-budget.ts';
import { limitConnections } from './limits/client-connections.ts';
import {
  type ConnectionLimit,
  createConnectionLimit,
  openFilesLimit,
} from './limits/connection-limit.ts';
import type { GatewayLimits } from './limits/gateway-limits.ts';
import { returnMemoryAfterBursts } from './limits/memory-return.ts';
import { createPlaces, type Places } from './limits/places.ts';
import { createRateLimit, eachSecond } from './limits/rate-limit.ts';
import { createRateQuotas } from './limits/rate-quotas.ts';
import type { SharedCount } from './limits/shared-count.ts';
import { createShares } from './limits/shares.ts';
import { createMetrics, type RequestMetrics } from './metrics/metrics.ts';
import {
  createRequestCounter,
  type RequestCounter,
  withRequestCounts,
} from './metrics/request-counts.ts';
import { withSysMetrics } from './metrics/sys-metrics.ts';
import { withVendorDocument } from './openapi/vendor-document.ts';
import { createReadiness } from './probes/readiness.ts';
import { withServiceHealth } from './probes/service-health.ts';
import type { BodyLimits } from './request/body-rules.ts';
import { createClientAddress } from './request/client-address.ts';
import { createClientCertificates } from './request/client-certificate.ts';
import { createSecurityHeaders } from './request/security-headers.ts';
import { createHttpServers, type EdgePorts, type HttpServers } from './server/http-servers.ts';
import {
  isOpen,
  type SiblingAnswers,
  type SiblingGateways,
  sealThread,
  withPatience,
  withSealOfProcess,
} from './threads/sibling-gateways.ts';
import { ownPart } from './threads/thread-limits.ts';
import { watchCertificateExpiry } from './tls/certificate-expiry.ts';
import type { CertificateSource } from './tls/self-issued-certificate.ts';
import { createServeV1 } from './v1/serve-v1.ts';

export type { RecentRequest } from './audit/domain/recent-request.ts';
export type { Counting, RateWindow } from './limits/rate-limit.ts';
export type { EdgePorts } from './server/http-servers.ts';
export type {
  SealAnswer,
  SealRequest,
  SiblingAnswers,
  SiblingGateways,
} from './threads/sibling-gateways.ts';
export {
  type CountedRequest,
  type CountRequest,
  countThrough,
  createThreadCounts,
} from './threads/thread-counts.ts';
export { openCertificateFiles } from './tls/certificate-files.ts';
export {
  type CertificateSource,
  openSelfIssuedCertificate,
  type ServerCertificate,
} from './tls/self-issued-certificate.ts';

/** From the signal to stop until open connections are closed. */
const STOP_WITHIN_MS = 25_000;
/** For the counts of the last minute, which are not worth a longer end. */
const LAST_COUNTS_WITHIN_MS = 1000;

export interface GatewayParts {
  readonly config: GatewayConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly services: {
    readonly sys: EdgeService;
    readonly workspace: EdgeService;
    readonly pki: EdgeService;
    readonly auth: EdgeService;
  };
  readonly access: RpcService<typeof AccessDefinition>;
  readonly identity: RpcService<typeof IdentityDefinition>;
  /** Service that answers EST requests; EST is not served when absent. */
  readonly enrolment?: RpcService<typeof EnrolmentDefinition>;
  /** The tokens of runs, whose keys are not shown when absent. */
  readonly workloadIdentity?: RpcService<typeof WorkloadIdentityDefinition>;
  /**
   * Files and folders of this process that no audit device may write to, in addition to those in
   * `config`.
   */
  readonly ownFiles?: readonly string[];
  /** A fault that only a restart of this process can fix; `/healthz` reports it. */
  readonly needsRestart?: () => string | undefined;
  /** Certificate for HTTPS; HTTPS is not served when absent. */
  readonly tls?: CertificateSource | undefined;
  /**
   * Counter of a rate limit that several gateways share; when absent, each gateway counts alone.
   */
  readonly sharedCount?: SharedCount | undefined;
  /** The gateways of other threads of this process; none if absent. */
  readonly siblings?: SiblingGateways | undefined;
  /** Time in which load balancers may find out that this gateway stops, before it refuses them; 0 if absent. */
  readonly drainMs?: number;
  /** Instead of those of `GATEWAY_LIMITS`. */
  readonly limits?: Partial<GatewayLimits>;
  /** Metrics of the process, which `/metrics` shows. */
  readonly registry: MetricsRegistry;
}

export interface Gateway {
  /**
   * @param ports those of the settings if absent
   * @returns the addresses it listens on, such as "http://127.0.0.1:8200"
   */
  start(ports?: EdgePorts): Promise<{ addresses: readonly string[] }>;
  readonly forSiblings: SiblingAnswers;
  /** Reopens audit files and reloads the certificate. */
  reload(): Promise<void>;
  /**
   * Reports not ready, after `drainMs` refuses new connections, and answers requests in progress. Every answer from
   * now on ends its connection.
   */
  stop(): Promise<void>;
}

/** sys with what only the gateway can add to its answers. */
const withOwnParts = (
  services: GatewayParts['services'],
  { metrics, requestCounter }: { metrics: RequestMetrics; requestCounter: RequestCounter },
  recent: () => Promise<readonly (readonly RecentRequest[])[]>,
  auditLog: AuditLog,
  clock: Clock,
): EdgeService => {
  const counted = withRequestCounts(withSysMetrics(services.sys, metrics), requestCounter);
  const sys = withRecentRequests(withRestoredDevices(counted, auditLog), recent);
  return withServiceHealth(withVendorDocument(sys, services), services, clock);
};

/** The bodies in memory may at least be one of each kind, of the largest size that the settings allow. */
const toBodyLimits = (config: GatewayConfig, limits: GatewayLimits): BodyLimits => {
  const { requestBodyLimitBytes: bodyBytes, webhookBodyLimitBytes: webhookBodyBytes } = config;
  const anonymousBodyBytes = Math.min(limits.anonymousBodyBytes, bodyBytes);
  const anonymousBytes = Math.max(anonymousBodyBytes, webhookBodyBytes) / ANONYMOUS_PART;
  return {
    bodyBytes,
    anonymousBodyBytes,
    webhookBodyBytes,
    budget: createBodyBudget({
      totalBytes: Math.max(limits.bodiesBytes, bodyBytes, anonymousBytes),
      clientBytes: Math.max(limits.clientBodiesBytes, bodyBytes, webhookBodyBytes),
    }),
  };
};

/** Files of the process, which no audit device may write to. */
const ownFilesOf = ({ config, ownFiles = [] }: GatewayParts): readonly string[] =>
  [...ownFiles, config.tlsCertificateFile, config.tlsKeyFile].filter((file) => file !== undefined);

/** The servers on both ports, which hand requests to `answer`. */
const openServers = (
  { config, tls, access, clock, siblings }: GatewayParts,
  { transferMs }: GatewayLimits,
  logger: Logger,
  limit: ConnectionLimit,
  answer: RequestListener,
): HttpServers =>
  createHttpServers({
    address: config.listenAddress,
    certificate: tls,
    requestsClientCertificates: config.requestClientCertificates
      ? () => Promise.resolve(true)
      : createCertificateQuestion(access, clock),
    requestTimeLimitMs: Math.max(config.requestTimeLimitSeconds * 1000, transferMs),
    keepAliveMs: config.keepAliveSeconds * 1000,
    maxConnections: limit.ofEachPort,
    onRefused: () => limit.refused(),
    sharesPorts: (siblings?.gateways ?? 1) > 1,
    guard: {
      proxyProtocolFrom: config.proxyProtocolFrom,
      limitConnections: limitConnections(config.clientMaxConnections, config.trustedProxies),
      onRefused: (proxy, reason) => logger.warn({ proxy }, reason),
    },
    answer,
  });

const placesOfRequests = (
  { requestsUnderWay: total, clientRequestsUnderWay: client }: GatewayConfig,
  clock: Clock,
): Places =>
  createPlaces('request.requests_under_way', { total, client }, returnMemoryAfterBursts(clock));

export const composeGateway = (given: GatewayParts): Gateway => {
  requireConsistent(given.config);
  const { siblings } = given;
  const gateways = siblings?.gateways ?? 1;
  const { config, limits } = ownPart(given, gateways);
  const { access, services: patient } = withPatience(given, siblings);
  const services = { ...patient, sys: withSealOfProcess(patient.sys, given.access, siblings) };
  const parts = { ...given, config, access, services };
  const { clock, identity, tls, drainMs = 0 } = parts;
  const logger = parts.logger.child({ service: 'gateway' });
  const certificateFaults =
    tls === undefined ? () => [] : watchCertificateExpiry(tls, clock, parts.registry);
  const connectionLimit = createConnectionLimit({
    maxConnections: config.maxConnections,
    openFiles: openFilesLimit(),
    gateways,
    clock,
    logger,
    registry: parts.registry,
  });
  const faults = () => [...certificateFaults(), ...connectionLimit.faults()];
  const readiness = createReadiness({
    clock,
    services,
    access,
    ownFaults: async (generation) => {
      const ofSiblings = (await siblings?.faults()) ?? [];
      return [
        ...new Set([...faults(), ...ofSiblings.flat(), ...(await auditLog.faults(generation))]),
      ];
    },
  });
  const bodies = toBodyLimits(config, limits);
  const requestCounter = createRequestCounter(access, clock);
  const metrics = createMetrics(
    parts.registry,
    () => readiness.state(),
    () => bodies.budget.heldBytes(),
    (...finished) => requestCounter.count(...finished),
    async () => (await siblings?.metrics()) ?? [],
  );
  const auditLog = createAuditLog({
    access,
    clock,
    logger,
    onRefused: () => metrics.refusedByAudit(),
    isRequired: config.auditRequired,
    files: {
      folders: config.auditDirectories,
      reserved: ownFilesOf(parts),
    },
  });
  const recent = async (): Promise<readonly (readonly RecentRequest[])[]> => [
    auditLog.recent(),
    ...((await siblings?.recentRequests()) ?? []),
  ];
  const audit = createAuditRecorder(auditLog);
  const timeoutMs = config.requestTimeLimitSeconds * 1000;
  const { transferMs: transferTimeLimitMs } = limits;
  let isDraining = false;
  const shares = createShares(
    {
      atOnce: config.requestsAtOnce,
      atOnceOfTenant: config.tenantRequestsAtOnce,
      waitingOfTenant: config.tenantRequestsWaiting,
      streamsOfTenant: config.tenantLiveStreams,
    },
    parts.registry,
  );
  const clientCertificates = createClientCertificates(config.clientCertificatesFrom);
  const serveV1 = createServeV1({
    access,
    services: {
      ...services,
      sys: withOwnParts(services, { metrics, requestCounter }, recent, auditLog, clock),
    },
    audit,
    bodies,
    shares,
    quotas: createRateQuotas(parts.sharedCount?.counting ?? siblings?.counting),
    clientCertificates,
    transferTimeLimitMs,
    publicUrl: config.publicUrl,
  });
  const rateLimit = createRateLimit(
    eachSecond('user', config.rateLimit),
    parts.sharedCount?.counting ?? siblings?.counting,
  );
  const serveApiV2 = createServeApiV2({
    access,
    identity,
    workspace: services.workspace,
    rateLimit,
    shares,
    audit,
    bodies,
    uploadLimitBytes: config.uploadLimitBytes,
    transferTimeLimitMs,
  });
  const app = createApplication({
    logger,
    metrics,
    exchanges: {
      timeoutMs,
      sendingMs: transferTimeLimitMs,
      securityHeaders: createSecurityHeaders(config.hstsSeconds),
      isDraining: () => isDraining,
    },
    heads: {
      publicUrl: config.publicUrl,
      clientAddress: createClientAddress(config.trustedProxies),
    },
    services,
    serveV1,
    apiV2: { serveApiV2, rateLimit },
    live: {
      clock,
      serve: { v1: serveV1, api_v2: serveApiV2 },
      services: Object.values(services),
      shares,
      isDraining: () => isDraining,
      places: createPlaces('request.live_streams', {
        total: limits.liveStreams,
        client: limits.clientLiveStreams,
      }),
    },
    enrolment: parts.enrolment,
    clientCertificates,
    workloadIdentity: parts.workloadIdentity,
    clientRateLimit: createRateLimit(
      eachSecond('client', config.clientRateLimit),
      siblings?.counting,
    ),
    requestPlaces: placesOfRequests(config, clock),
    readiness,
    needsRestart: parts.needsRestart ?? (() => undefined),
  });

  const servers = openServers(parts, limits, logger, connectionLimit, (request, response) =>
    app.routing(request, response),
  );

  let counting: Worker | undefined;
  return {
    start: async (ports = { http: config.httpPort, https: config.httpsPort }) => {
      await app.ready();
      const addresses = await servers.listen(ports);
      counting = startWorker('request counts', (signal) => requestCounter.run(signal), {
        logger,
        clock,
      });
      logger.info({ addresses }, 'listening');
      if (!config.auditRequired) logger.warn('requests are served even if no audit device records');
      return { addresses };
    },
    forSiblings: {
      seal: (request) => sealThread(given.services.sys, request),
      isOpen: () => isOpen(given.access),
      faults: async () => faults(),
      metrics: () => threadMetrics(parts.registry),
      recentRequests: async () => auditLog.recent(),
    },
    reload: async () => {
      await auditLog.reopen();
      await tls?.reload().catch((err: unknown) => {
        logger.error(
          { err },
          'HTTPS certificate files cannot be used; the certificate in use stays',
        );
      });
    },
    stop: async () => {
      isDraining = true;
      readiness.drain();
      if (drainMs > 0) await new Promise<void>((over) => void clock.after(drainMs, over));
      await servers.drain(STOP_WITHIN_MS - drainMs);
      await app.close();
      await counting?.stop();
      await requestCounter
        .send(AbortSignal.timeout(LAST_COUNTS_WITHIN_MS))
        .catch((err: unknown) => logger.debug({ err }, 'requests of the last minute not counted'));
      await auditLog.close();
    },
  };
};
