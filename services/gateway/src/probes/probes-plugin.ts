/** Probes and metrics. */
import type { FastifyPluginCallback } from 'fastify';
import type { RequestMetrics } from '../metrics/metrics.ts';
import type { Readiness } from './readiness.ts';

export interface ProbesParts {
  readonly readiness: Readiness;
  /** A fault that only a restart of this process can fix; undefined if there is none. */
  readonly needsRestart: () => string | undefined;
  readonly metrics: RequestMetrics;
  readonly version: string;
}

export const probesPlugin: FastifyPluginCallback<ProbesParts> = (app, parts, done) => {
  const { readiness, needsRestart, metrics, version } = parts;

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
      ...(state.isSuperseded && { superseded: true }),
      services: Object.fromEntries(state.services),
      ...(state.reasons.size > 0 && { reasons: Object.fromEntries(state.reasons) }),
      ...(state.impaired.size > 0 && { impaired: Object.fromEntries(state.impaired) }),
    });
  });

  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  );
  done();
};
