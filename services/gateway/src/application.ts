/**
 * The Fastify application: the hooks that a request passes, in order, and the plugins that answer
 * it.
 */
import type { EdgeService } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { EnrolmentDefinition } from '@keelson/proto/pki/v1/enrolment';
import type { WorkloadIdentityDefinition } from '@keelson/proto/workspace/v1/workload_identity';
import type { RpcService } from '@keelson/rpc';
import { VERSION } from '@keelson/runtime';
import fastify, {
  type FastifyInstance,
  type FastifyPluginCallback,
  type onRequestAsyncHookHandler,
  type onRequestHookHandler,
} from 'fastify';
import type { ServeExchange } from './answers/answer-with.ts';
import { createErrorDocuments } from './answers/error-documents.ts';
import { type ApiV2PluginParts, apiV2Plugin } from './api-v2/api-v2-plugin.ts';
import { consolePlugin } from './console/console-plugin.ts';
import { consoleSessionPlugin } from './console-session/console-session-plugin.ts';
import { presentSession } from './console-session/present-session.ts';
import { discoveryPlugin } from './discovery/discovery-plugin.ts';
import { workloadIdentityPlugin } from './discovery/workload-identity-plugin.ts';
import { estPlugin } from './est/est-plugin.ts';
import { createErrorHandler } from './hooks/answer-errors.ts';
import { limitClient } from './hooks/limit-client.ts';
import { limitRequests } from './hooks/limit-requests.ts';
import { createExchange, type ExchangeRules, openExchange } from './hooks/open-exchange.ts';
import { readRequestHead } from './hooks/read-head.ts';
import { recordRequest } from './hooks/record-request.ts';
import type { Places } from './limits/places.ts';
import type { RateLimit } from './limits/rate-limit.ts';
import { type LivePluginParts, livePlugin } from './live/live-plugin.ts';
import type { RequestMetrics } from './metrics/metrics.ts';
import { openApiPlugin } from './openapi/openapi-plugin.ts';
import { probesPlugin } from './probes/probes-plugin.ts';
import type { Readiness } from './probes/readiness.ts';
import type { ClientCertificates } from './request/client-certificate.ts';
import { type HeadRules, requestIdOf, requireHost } from './request/request-head.ts';
import { isBelow, toOriginForm } from './request/request-target.ts';
import { API_V2, EST, LIVE, OWN, SESSION, type Surface, V1 } from './request/surface.ts';
import { ROUTED_METHODS } from './server/list-routing.ts';
import { v1Plugin } from './v1/v1-plugin.ts';

export interface ApplicationParts {
  readonly logger: Logger;
  readonly metrics: RequestMetrics;
  readonly exchanges: ExchangeRules;
  readonly heads: HeadRules;
  /** By name. */
  readonly services: Readonly<Record<string, EdgeService>>;
  readonly serveV1: ServeExchange;
  readonly apiV2: ApiV2PluginParts;
  readonly live: LivePluginParts;
  /** EST is not served when absent. */
  readonly enrolment: RpcService<typeof EnrolmentDefinition> | undefined;
  readonly clientCertificates: ClientCertificates;
  /** The keys of runs are not shown when absent. */
  readonly workloadIdentity: RpcService<typeof WorkloadIdentityDefinition> | undefined;
  /** Rate limit of each client address, on /v1, EST and the keys of runs. */
  readonly clientRateLimit: RateLimit;
  /** Places for the requests in progress to all APIs. */
  readonly requestPlaces: Places;
  readonly readiness: Readiness;
  readonly needsRestart: () => string | undefined;
}

type Hook = onRequestHookHandler | onRequestAsyncHookHandler;

/** Replaces Fastify's schema compilers, which are then not loaded. */
const refuseSchemas = (): never => {
  throw new Error('routes of the gateway have no schemas');
};

const PROXIED_SURFACES = [V1, API_V2, EST];

/** For the gateway's own pages and probes, whose answers carry the headers of the exchange. */
const setAnswerHeaders: onRequestHookHandler = ({ exchange, raw }, reply, done) => {
  requireHost(raw);
  reply.headers(exchange.answerHeaders);
  done();
};

export const createApplication = (parts: ApplicationParts): FastifyInstance => {
  const { logger, exchanges, services, readiness, needsRestart, metrics } = parts;
  const handleError = createErrorHandler(createErrorDocuments(logger), logger);
  const app = fastify({
    logger: false,
    genReqId: requestIdOf,
    rewriteUrl: ({ url = '/' }) => toOriginForm(url),
    // Services read queries themselves.
    routerOptions: { querystringParser: () => ({}) },
    schemaController: {
      compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas },
    },
    // Called when the router cannot decode the path; no hook has run yet.
    frameworkErrors: (cause, request, reply) => {
      const { url = '/' } = request.raw;
      const surface = PROXIED_SURFACES.find(({ prefix }) => isBelow(url, prefix)) ?? OWN;
      request.exchange = createExchange(exchanges, surface, request, reply);
      const text = 'the path is not valid percent-encoding';
      const error = new KeelsonError('request.invalid', { text }, { cause });
      void handleError(error, request, reply);
    },
  });
  // Fastify reads no bodies: those of the APIs are passed on as they arrive, and no other route has
  // one.
  for (const method of ROUTED_METHODS)
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  app.setErrorHandler(handleError);

  /** Registers plugins with the hooks that their requests pass, in order. */
  const serve = (
    surface: Surface,
    hooks: readonly Hook[],
    register: (scope: FastifyInstance) => void,
  ): void => {
    const plugin: FastifyPluginCallback = (scope, _options, done) => {
      scope.addHook('onRequest', openExchange(exchanges, surface));
      for (const hook of hooks) scope.addHook('onRequest', hook);
      register(scope);
      done();
    };
    void app.register(plugin, { prefix: surface.prefix });
  };

  const proxied = [
    recordRequest(metrics, logger),
    readRequestHead(parts.heads),
    limitRequests(parts.requestPlaces),
  ];
  const limited = [...proxied, limitClient(parts.clientRateLimit)];
  const ofConsole = (hooks: readonly Hook[]): readonly Hook[] => [presentSession, ...hooks];
  const { serveV1, enrolment, workloadIdentity, clientCertificates } = parts;
  serve(V1, ofConsole(limited), (scope) => void scope.register(v1Plugin, { serveV1 }));
  serve(API_V2, ofConsole(proxied), (scope) => void scope.register(apiV2Plugin, parts.apiV2));
  if (enrolment !== undefined)
    serve(
      EST,
      limited,
      (scope) => void scope.register(estPlugin, { enrolment, serveV1, clientCertificates }),
    );
  if (workloadIdentity !== undefined)
    serve(
      OWN,
      [...limited, setAnswerHeaders],
      (scope) => void scope.register(workloadIdentityPlugin, { workloadIdentity }),
    );
  serve(LIVE, ofConsole(limited), (scope) => void scope.register(livePlugin, parts.live));
  serve(SESSION, limited, (scope) => void scope.register(consoleSessionPlugin));
  serve(OWN, [setAnswerHeaders], (scope) => {
    const version = VERSION;
    void scope.register(probesPlugin, { readiness, needsRestart, metrics, version });
    void scope.register(discoveryPlugin);
    void scope.register(openApiPlugin, { services });
    void scope.register(consolePlugin, { apis: Object.keys(services) });
    scope.setNotFoundHandler(() => {
      const text = 'unsupported path; the APIs are below /v1 and /api/v2 and described at /docs';
      throw new KeelsonError('request.not_found', { text });
    });
  });
  return app;
};
