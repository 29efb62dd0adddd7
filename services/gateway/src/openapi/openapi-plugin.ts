/** The OpenAPI documents of the APIs, one for each service. */
import { type EdgeService, edgeResponse, toOpenApiDocument } from '@keelson/edge';
import type { FastifyPluginCallback } from 'fastify';
import { negotiated } from '../answers/negotiated-answer.ts';

export interface OpenApiParts {
  /** By name, which is the name of the document too. */
  readonly services: Readonly<Record<string, EdgeService>>;
}

export const openApiPlugin: FastifyPluginCallback<OpenApiParts> = (app, { services }, done) => {
  for (const [name, service] of Object.entries(services))
    app.get(`/openapi/${name}.json`, async ({ exchange }, reply) => {
      const document = JSON.stringify(toOpenApiDocument(await service.describe()));
      const { head, body } = await negotiated(
        exchange,
        edgeResponse(
          200,
          { 'content-type': 'application/json; charset=utf-8' },
          Buffer.from(document),
        ),
      );
      for (const { name: header, value } of head.headers) reply.header(header, value);
      return reply.code(head.status).send(body);
    });
  done();
};
