/** The OpenAPI documents of the APIs, one for each service. */
import { isDeepStrictEqual } from 'node:util';
import { type EdgeService, edgeResponse, toOpenApiDocument } from '@keelson/edge';
import type { FastifyPluginCallback } from 'fastify';
import { type EncodedForms, negotiated } from '../answers/negotiated-answer.ts';

export interface OpenApiParts {
  /** By name, which is the name of the document too. */
  readonly services: Readonly<Record<string, EdgeService>>;
}

type Description = Awaited<ReturnType<EdgeService['describe']>>;

interface Prepared {
  readonly description: Description;
  readonly bytes: Buffer;
  readonly forms: EncodedForms;
}

/** Anybody may ask for a document, so that each is built and compressed once for each description. */
const documentOf = (service: EdgeService): (() => Promise<Prepared>) => {
  let last: Prepared | undefined;
  return async () => {
    const description = await service.describe();
    if (last === undefined || !isDeepStrictEqual(last.description, description)) {
      const bytes = Buffer.from(JSON.stringify(toOpenApiDocument(description)));
      last = { description, bytes, forms: new Map() };
    }
    return last;
  };
};

export const openApiPlugin: FastifyPluginCallback<OpenApiParts> = (app, { services }, done) => {
  for (const [name, service] of Object.entries(services)) {
    const load = documentOf(service);
    app.get(`/openapi/${name}.json`, async ({ exchange }, reply) => {
      const { bytes, forms } = await load();
      const { head, body } = await negotiated(
        exchange,
        edgeResponse(200, { 'content-type': 'application/json; charset=utf-8' }, bytes),
        forms,
      );
      for (const { name: header, value } of head.headers) reply.header(header, value);
      return reply.code(head.status).send(body);
    });
  }
  done();
};
