/** The composition root of the gateway. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@keelson/clock';
import type { EdgeService } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { EnrolmentDefinition } from '@keelson/proto/pki/v1/enrolment';
import type { AccessDefinition } from '@keelson/proto/sys/v1/access';
import type { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import type { RpcService } from '@keelson/rpc';
import { VERSION } from '@keelson/runtime';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { createAuditLog } from './audit/audit-log.ts';
import { createAuditRecorder } from './audit/audit-recorder.ts';
import { type GatewayConfig, requireConsistent } from './config.ts';
import { registerConsoleRoutes } from './console/console-routes.ts';
import { createErrorAnswers } from './errors/error-answers.ts';
import { createBodyBudget } from './limits/body-budget.ts';
import { createRateLimit } from './limits/rate-limit.ts';
import type { SharedCount } from './limits/shared-count.ts';
import { createMetrics } from './metrics/metrics.ts';
import { withSysMetrics } from './metrics/sys-metrics.ts';
import { registerClientPages } from './pages/client-pages.ts';
import { registerOwnRoutes } from './probes/own-routes.ts';
import { createReadiness } from './probes/readiness.ts';
import { createApiV2Surface } from './proxy/api-v2-surface.ts';
import type { BodyLimits } from './proxy/body-rules.ts';
import { createClientAddress } from './proxy/client-address.ts';
import { createEstSurface, EST_PREFIX } from './proxy/est-surface.ts';
import type { DecisionStates } from './proxy/remembered-answers.ts';
import { requestIdOf, requireHost } from './proxy/request-head.ts';
import { isBelow, toOriginForm } from './proxy/request-target.ts';
import { createServeRequest, type ServedSurface } from './proxy/serve-request.ts';
import { createV1Surface } from './proxy/v1-surface.ts';
import { createHttpServers } from './server/http-servers.ts';
import { createSecurityHeaders } from './server/security-headers.ts';
import type { CertificateSource } from './tls/self-issued-certificate.ts';

export { type GatewayConfig, gatewayConfig } from './config.ts';
export { openCertificateFiles } from './tls/certificate-files.ts';
export {
  type CertificateSource,
  openSelfIssuedCertificate,
  type ServerCertificate,
} from './tls/self-issued-certificate.ts';

const DRAIN_WITHIN_MS = 25_000;
const OWN_BODY_LIMIT_BYTES = 1024;

/** In place of Fastify's compilers of schemas, which are only loaded where there are no others. */
const refuseSchemas = (): never => {
  throw new Error('routes of the gateway have no schemas');
};

export interface GatewayParts {
  readonly config: GatewayConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly services: {
    readonly sys: EdgeService;
    readonly workspace: EdgeService;
    readonly pki: EdgeService;
  };
  readonly access: RpcService<typeof AccessDefinition>;
  readonly identity: RpcService<typeof IdentityDefinition>;
  /** Where the requests of EST go; it is not served when absent. */
  readonly enrolment?: RpcService<typeof EnrolmentDefinition>;
  /** Given where sys is in this process: answers that still hold are then given again. */
  readonly decisionState?: DecisionStates;
  /** Files and folders of this process, which no audit device may write; those of `config` go without saying. */
  readonly ownFiles?: readonly string[];
  /** The fault that only a restart of this process mends, which `/healthz` then reports. */
  readonly needsRestart?: () => string | undefined;
  /** HTTPS is served when given. */
  readonly tls?: CertificateSource | undefined;
  /** Counts requests where several gateways share a rate limit; each its own when absent. */
  readonly sharedCount?: SharedCount | undefined;
}

export interface Gateway {
  /** @returns addresses it listens on: "http://127.0.0.1:8200" */
  start(): Promise<{ addresses: readonly string[] }>;
  /** Opens audit files again and reads the certificate again. */
  reload(): Promise<void>;
  /** Not ready first, then no new connections; requests under way are answered. */
  stop(): Promise<void>;
}

export const composeGateway = (parts: GatewayParts): Gateway => {
  const { config, clock, services, access, identity, tls } = parts;
  const logger = parts.logger.child({ service: 'gateway' });
  const readiness = createReadiness({ services, access });
  const metrics = createMetrics(async () => (await readiness.state()).services);
  const auditLog = createAuditLog({
    access,
    clock,
    logger,
    onRefused: () => metrics.refusedByAudit(),
    isRequired: config.auditRequired,
    files: {
      folders: config.auditDirectories,
      reserved: [...(parts.ownFiles ?? []), config.tlsCertificateFile, config.tlsKeyFile].filter(
        (file) => file !== undefined,
      ),
    },
  });
  const audit = createAuditRecorder(auditLog);
  requireConsistent(config);
  const bodies: BodyLimits = {
    bodyBytes: config.requestBodyLimitBytes,
    anonymousBodyBytes: Math.min(config.anonymousBodyLimitBytes, config.requestBodyLimitBytes),
    budget: createBodyBudget({
      totalBytes: config.bodiesLimitBytes,
      clientBytes: config.clientBodiesLimitBytes,
    }),
  };
  const timeoutMs = config.requestTimeLimitSeconds * 1000;
  const renderError = createErrorAnswers(logger);
  const securityHeaders = createSecurityHeaders(config.hstsSeconds);
  const serveRequest = createServeRequest({
    logger,
    metrics,
    renderError,
    timeoutMs,
    publicUrl: config.publicUrl,
    securityHeaders,
    clientAddress: createClientAddress(config.trustedProxies),
  });
  const serveV1 = createV1Surface({
    access,
    services: { ...services, sys: withSysMetrics(services.sys, metrics) },
    audit,
    rateLimit: createRateLimit(config.clientRateLimit),
    bodies,
    publicUrl: config.publicUrl,
    decisionState: parts.decisionState,
  });
  const v1: ServedSurface = { surface: 'v1', prefix: '/v1', serve: serveV1 };
  const { enrolment } = parts;
  const est: ServedSurface | undefined = enrolment && {
    surface: 'est',
    prefix: EST_PREFIX,
    serve: createEstSurface({ enrolment, serveV1 }),
  };
  const apiV2: ServedSurface = {
    surface: 'api_v2',
    prefix: '/api/v2',
    serve: createApiV2Surface({
      access,
      identity,
      workspace: services.workspace,
      rateLimit: createRateLimit(config.rateLimit, parts.sharedCount?.counting),
      audit,
      bodies,
      uploadLimitBytes: config.uploadLimitBytes,
      transferTimeLimitMs: config.transferTimeLimitSeconds * 1000,
    }),
  };

  const app = fastify({
    logger: false,
    exposeHeadRoutes: true,
    // None of these routes takes a body.
    bodyLimit: OWN_BODY_LIMIT_BYTES,
    schemaController: {
      compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas },
    },
  });
  app.addHook('onRequest', (request, reply, done) => {
    requireHost(request.raw);
    reply.headers(securityHeaders(request.raw));
    done();
  });
  registerOwnRoutes(app, {
    services: Object.values(services),
    readiness,
    needsRestart: parts.needsRestart ?? (() => undefined),
    metrics,
    version: VERSION,
  });
  registerConsoleRoutes(app);
  registerClientPages(app);
  const refuse = (thrown: unknown, request: FastifyRequest, reply: FastifyReply): unknown => {
    const { head, body } = renderError('own', thrown, requestIdOf(request.raw));
    return reply.code(head.status).type('application/json').send(body);
  };
  app.setNotFoundHandler((request, reply) => {
    const text = 'unsupported path; the APIs are below /v1 and /api/v2 and described at /docs';
    return refuse(new KeelsonError('request.not_found', { text }), request, reply);
  });
  app.setErrorHandler(refuse);

  let isDraining = false;
  const answer = (method: string, request: IncomingMessage, response: ServerResponse): void => {
    if (isDraining) response.setHeader('connection', 'close');
    const url = toOriginForm(request.url ?? '/');
    request.url = url;
    const served = isBelow(url, v1.prefix)
      ? v1
      : isBelow(url, apiV2.prefix)
        ? apiV2
        : isBelow(url, EST_PREFIX)
          ? est
          : undefined;
    if (served === undefined) app.routing(request, response);
    else
      serveRequest(served, method, request, response).catch((err: unknown) => {
        logger.error({ err }, 'answer could not be written');
        response.destroy();
      });
  };

  const servers = createHttpServers({
    address: config.listenAddress,
    httpPort: config.httpPort,
    httpsPort: config.httpsPort,
    certificate: tls,
    requestsClientCertificates: config.requestClientCertificates,
    requestTimeLimitMs: Math.max(timeoutMs, config.transferTimeLimitSeconds * 1000),
    keepAliveMs: config.keepAliveSeconds * 1000,
    answer,
  });

  return {
    start: async () => {
      await app.ready();
      const addresses = await servers.listen();
      logger.info({ addresses }, 'listening');
      if (!config.auditRequired) logger.warn('requests are served even if no audit device records');
      return { addresses };
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
      await servers.drain(DRAIN_WITHIN_MS);
      await app.close();
      await auditLog.close();
    },
  };
};
