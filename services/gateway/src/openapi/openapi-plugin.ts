/**
 * The OpenAPI documents of the APIs, one for each service: `/openapi/workspace.json` in OpenAPI 3.1, and with
 * `?version=3.0` in that version.
 */
import { isDeepStrictEqual } from 'node:util';
import { type EdgeService, edgeResponse, toOpenApiDocument } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { FastifyPluginCallback } from 'fastify';
import { type EncodedForms, negotiated } from '../answers/negotiated-answer.ts';
import { toOpenApi30 } from './openapi-30.ts';

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

type Version = '3.0' | '3.1';

const toDocument: Readonly<Record<Version, (description: Description) => object>> = {
  '3.0': (description) => toOpenApi30(toOpenApiDocument(description)),
  '3.1': toOpenApiDocument,
};

/** Anybody may ask for a document, so that each is built and compressed once for each description. */
const documentOf = (service: EdgeService, version: Version): (() => Promise<Prepared>) => {
  let last: Prepared | undefined;
  return async () => {
    const description = await service.describe();
    if (last === undefined || !isDeepStrictEqual(last.description, description)) {
      const bytes = Buffer.from(JSON.stringify(toDocument[version](description)));
      last = { description, bytes, forms: new Map() };
    }
    return last;
  };
};

export const openApiPlugin: FastifyPluginCallback<OpenApiParts> = (app, { services }, done) => {
  for (const [name, service] of Object.entries(services)) {
    const load = { '3.0': documentOf(service, '3.0'), '3.1': documentOf(service, '3.1') };
    app.get(`/openapi/${name}.json`, async ({ exchange, url }, reply) => {
      const version = new URLSearchParams(url.split('?', 2)[1]).get('version') ?? '3.1';
      if (version !== '3.0' && version !== '3.1')
        throw new KeelsonError('request.invalid', { text: 'version is neither 3.0 nor 3.1' });
      const { bytes, forms } = await load[version]();
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
