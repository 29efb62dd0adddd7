/** The description of the APIs, for programs and for people. */
import type { EdgeService } from '@keelson/edge';
import type { FastifyPluginCallback } from 'fastify';
import { sendPage } from '../pages/html-page.ts';
import { composeOpenApi } from './composed-openapi.ts';
import { renderOpenApi } from './openapi-page.ts';

export interface OpenApiParts {
  readonly services: readonly EdgeService[];
  readonly version: string;
}

export const openApiPlugin: FastifyPluginCallback<OpenApiParts> = (app, parts, done) => {
  const compose = () => composeOpenApi(parts.services, parts.version);
  app.get('/openapi.json', compose);
  app.get('/docs', async (_request, reply) =>
    sendPage(reply, 'Keelson API', renderOpenApi(await compose())),
  );
  done();
};
