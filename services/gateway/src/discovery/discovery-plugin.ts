/**
 * `/.well-known/terraform.json`: where provisioning clients find the workspace API, and how their users sign in (remote
 * service discovery, login protocol).
 */
import { COMMAND_LOGIN } from '@keelson/edge';
import type { FastifyPluginCallback } from 'fastify';

const DISCOVERY = {
  'tfe.v2': '/api/v2/',
  'tfe.v2.1': '/api/v2/',
  'tfe.v2.2': '/api/v2/',
  'state.v2': '/api/v2/',
  'login.v1': {
    client: COMMAND_LOGIN.clientId,
    grant_types: ['authz_code'],
    authz: COMMAND_LOGIN.authorizationPath,
    token: `/api/v2${COMMAND_LOGIN.tokenPath}`,
    ports: COMMAND_LOGIN.ports,
  },
} as const;

export const discoveryPlugin: FastifyPluginCallback = (app, _options, done) => {
  app.get('/.well-known/terraform.json', (_request, reply) =>
    reply.type('application/json').send(DISCOVERY),
  );
  done();
};
