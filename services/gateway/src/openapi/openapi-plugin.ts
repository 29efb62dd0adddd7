/** The OpenAPI documents of the APIs, one for each service. */
import { type EdgeService, toOpenApiDocument } from '@keelson/edge';
import type { FastifyPluginCallback } from 'fastify';

export interface OpenApiParts {
  /** By name, which is the name of the document too. */
  readonly services: Readonly<Record<string, EdgeService>>;
}

export const openApiPlugin: FastifyPluginCallback<OpenApiParts> = (app, { services }, done) => {
  for (const [name, service] of Object.entries(services))
    app.get(`/openapi/${name}.json`, async () => toOpenApiDocument(await service.describe()));
  done();
};
