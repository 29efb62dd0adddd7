/** `/.well-known/terraform.json`: where provisioning clients find the workspace API (remote service discovery). */
import type { FastifyPluginCallback } from 'fastify';

const DISCOVERY = {
  'tfe.v2': '/api/v2/',
  'tfe.v2.1': '/api/v2/',
  'tfe.v2.2': '/api/v2/',
  'state.v2': '/api/v2/',
} as const;

export const discoveryPlugin: FastifyPluginCallback = (app, _options, done) => {
  app.get('/.well-known/terraform.json', (_request, reply) =>
    reply.type('application/json').send(DISCOVERY),
  );
  done();
};
