/** What the gateway answers itself: probes, metrics, discovery, the description of the APIs. */
import type { EdgeService } from '@keelson/edge';
import type { FastifyInstance } from 'fastify';
import type { RequestMetrics } from '../metrics/metrics.ts';
import { composeOpenApi } from '../openapi/composed-openapi.ts';
import { renderOpenApi } from '../openapi/openapi-page.ts';
import { sendPage } from '../pages/html-page.ts';
import type { Readiness } from './readiness.ts';

/** Where provisioning clients find the workspace API (remote service discovery). */
const DISCOVERY = {
  'tfe.v2': '/api/v2/',
  'tfe.v2.1': '/api/v2/',
  'tfe.v2.2': '/api/v2/',
  'state.v2': '/api/v2/',
} as const;

export interface OwnRoutesParts {
  readonly services: readonly EdgeService[];
  readonly readiness: Readiness;
  /** The fault that only a restart of this process mends; undefined while there is none. */
  readonly needsRestart: () => string | undefined;
  readonly metrics: RequestMetrics;
  readonly version: string;
}

export const registerOwnRoutes = (app: FastifyInstance, parts: OwnRoutesParts): void => {
  const { services, readiness, needsRestart, metrics, version } = parts;

  app.get('/healthz', (_request, reply) => {
    const reason = needsRestart();
    return reason === undefined
      ? reply.send({ status: 'alive', version })
      : reply.code(503).send({ status: 'needs a restart', reason, version });
  });

  app.get('/readyz', async (_request, reply) => {
    const state = await readiness.state();
    return reply.code(state.isReady ? 200 : 503).send({
      status: state.isReady ? 'ready' : 'not ready',
      seal: state.seal,
      draining: state.isDraining,
      services: Object.fromEntries(state.services),
      ...(state.impaired.size > 0 && { impaired: Object.fromEntries(state.impaired) }),
    });
  });

  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  );

  app.get('/.well-known/terraform.json', (_request, reply) =>
    reply.type('application/json').send(DISCOVERY),
  );

  app.get('/openapi.json', () => composeOpenApi(services, version));

  app.get('/docs', async (_request, reply) =>
    sendPage(reply, 'Keelson API', renderOpenApi(await composeOpenApi(services, version))),
  );
};
