/** JSON:API endpoints as routes of the edge, with their OpenAPI operations. */
import {
  type EdgeResponse,
  edgeResponse,
  JSON_API_LIMITS,
  parseJson,
  type Route,
  type RouteExchange,
} from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { Principal } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import type { TSchema } from 'typebox';
import { metaWarnings } from './added-warning.ts';
import type { JsonApiDocument } from './document.ts';
import type { Endpoint } from './endpoint.ts';
import { JSON_API_MEDIA_TYPE } from './error-document.ts';
import { parseInclude } from './include.ts';
import { describeEndpoint } from './openapi.ts';
import { queryReader } from './query.ts';
import { type BodyDecoder, createBodyDecoder, requireSameId } from './request-body.ts';
import { parseFields, warnOfFields, withFields } from './sparse-fields.ts';
import { warnOfUnsupported } from './unsupported-fields.ts';

/** A body must name its media type; a charset parameter may follow. Nothing has no media type. */
const requireMediaType = ({ head }: RouteExchange): void => {
  const given = (head.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (given !== JSON_API_MEDIA_TYPE) {
    throw new KeelsonError('request.unsupported_media_type', {
      text: `a request with a body must have the content type ${JSON_API_MEDIA_TYPE}`,
    });
  }
};

const readBody = async (
  definition: Endpoint,
  decoder: BodyDecoder<TSchema> | undefined,
  exchange: RouteExchange,
): Promise<unknown> => {
  if (exchange.head.method === 'GET' || exchange.head.method === 'HEAD') return undefined;
  const bytes = await exchange.body.bytes(definition.body?.limitBytes ?? JSON_API_LIMITS.bodyBytes);
  if (bytes.byteLength > 0) requireMediaType(exchange);
  if (definition.body === undefined || decoder === undefined) return undefined;
  if (bytes.byteLength === 0 && definition.body.optional === true) return undefined;
  return decoder.decode(parseJson(bytes, JSON_API_LIMITS.json));
};

/** The path parameter with the id of the resource that a request changes; undefined if its path has none. */
const changedIdParameter = ({ method, path }: Endpoint): string | undefined =>
  method === 'PATCH' || method === 'PUT' ? /:(\w+_id)$/.exec(path)?.[1] : undefined;

const NOBODY = messageOf(Principal, {});

const idOf = (document: unknown): string | null | undefined =>
  (document as { data?: { id?: string | null } } | undefined)?.data?.id;

/** Handlers of open endpoints are not given it. @throws KeelsonError `jsonapi.unauthorized` */
const callerOf = ({ isOpen }: Endpoint, { head }: RouteExchange): Principal => {
  if (isOpen === true) return NOBODY;
  if (head.principal === undefined) throw new KeelsonError('jsonapi.unauthorized');
  return head.principal;
};

const toRoute = (tag: string, definition: Endpoint): Route => {
  const decoder =
    definition.body === undefined
      ? undefined
      : createBodyDecoder(
          definition.body.schema,
          definition.body.aliases,
          definition.body.check,
          definition.body.notOffered,
        );
  const idParameter = changedIdParameter(definition);
  const readQuery = queryReader(definition.query);
  return {
    method: definition.method,
    path: definition.path,
    operation: () => describeEndpoint(tag, definition),
    handle: async (exchange): Promise<EdgeResponse> => {
      const principal = callerOf(definition, exchange);
      // Before the handler, which may change something and then find that it cannot answer as asked.
      const query = readQuery(exchange.query);
      const fields = parseFields(query);
      parseInclude(query, definition.answers?.includes ?? {});
      const body = await readBody(definition, decoder, exchange);
      const { head, params } = exchange;
      if (idParameter !== undefined) requireSameId(idOf(body), params[idParameter] ?? '');
      const answer = await definition
        .handle({ head, params, query, principal, body })
        .catch((refusal: unknown) => {
          throw decoder?.pointToGiven(body, refusal) ?? refusal;
        });
      if (definition.method === 'GET') query.requireKnown();
      if (answer === undefined) return edgeResponse(definition.success === 202 ? 202 : 204);
      if ('location' in answer) {
        const { status, location } = answer;
        return edgeResponse(status, { location, 'cache-control': 'no-store' });
      }
      const warnings = [
        ...warnOfUnsupported(body, definition.body?.withoutEffect),
        ...warnOfFields(fields, definition.answers),
      ];
      const document = warnings.reduce(metaWarnings.inDocument, answer.document) as JsonApiDocument;
      const response = edgeResponse(
        definition.success ?? 200,
        { 'content-type': JSON_API_MEDIA_TYPE },
        Buffer.from(JSON.stringify(withFields(document, fields))),
      );
      return answer.isStillValid === undefined
        ? response
        : { ...response, isStillValid: answer.isStillValid };
    },
  };
};

/** Routes of one area; `tag` groups them in the OpenAPI document. */
export const jsonApiRoutes = (tag: string, definitions: readonly Endpoint[]): Route[] =>
  definitions.map((definition) => toRoute(tag, definition));
