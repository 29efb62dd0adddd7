/** The description of the APIs, for programs and for people: one OpenAPI document for each service. */
import { type EdgeService, toOpenApiDocument } from '@keelson/edge';
import type { FastifyPluginCallback } from 'fastify';
import { sendPage } from '../pages/html-page.ts';
import { renderOpenApi } from './openapi-page.ts';

export interface OpenApiParts {
  /** By name, which is the name of the document too. */
  readonly services: Readonly<Record<string, EdgeService>>;
}

export const openApiPlugin: FastifyPluginCallback<OpenApiParts> = (app, { services }, done) => {
  const documents = Object.entries(services).map(
    ([name, service]) =>
      [`/openapi/${name}.json`, async () => toOpenApiDocument(await service.describe())] as const,
  );
  for (const [path, load] of documents) app.get(path, load);
  app.get('/docs', async (_request, reply) => {
    const apis = await Promise.all(
      documents.map(async ([path, load]) => renderOpenApi(path, await load())),
    );
    return sendPage(reply, 'Keelson API', apis.join('\n'));
  });
  done();
};
