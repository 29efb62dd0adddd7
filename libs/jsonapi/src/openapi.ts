/** OpenAPI 3.1 operations of JSON:API endpoints, and the components that they refer to. */
import type { Endpoint } from './endpoint.ts';
import { JSON_API_MEDIA_TYPE } from './error-document.ts';

const jsonApi = (schema: object) => ({ content: { [JSON_API_MEDIA_TYPE]: { schema } } });
const schemaOf = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const text = { type: 'string' } as const;

const IDENTIFIER = {
  type: 'object',
  required: ['id', 'type'],
  properties: { id: text, type: text },
} as const;

const SCHEMAS = {
  Resource: {
    ...IDENTIFIER,
    properties: {
      ...IDENTIFIER.properties,
      attributes: { type: 'object', additionalProperties: true },
      relationships: { type: 'object', additionalProperties: schemaOf('Relationship') },
      links: schemaOf('Links'),
    },
  },
  Relationship: {
    type: 'object',
    properties: {
      data: {
        anyOf: [
          schemaOf('Identifier'),
          { type: 'array', items: schemaOf('Identifier') },
          { type: 'null' },
        ],
      },
      links: schemaOf('Links'),
    },
  },
  Identifier: IDENTIFIER,
  Links: { type: 'object', additionalProperties: { type: ['string', 'null'] } },
  Document: {
    type: 'object',
    required: ['data'],
    properties: {
      data: {
        anyOf: [
          schemaOf('Resource'),
          { type: 'array', items: schemaOf('Resource') },
          { type: 'null' },
        ],
      },
      included: { type: 'array', items: schemaOf('Resource') },
      links: schemaOf('Links'),
      meta: { type: 'object', additionalProperties: true },
    },
  },
  Errors: {
    type: 'object',
    required: ['errors'],
    properties: {
      errors: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          required: ['status', 'title'],
          properties: {
            status: { type: 'string', description: 'The HTTP status.' },
            title: text,
            detail: text,
            source: {
              type: 'object',
              properties: {
                pointer: { type: 'string', description: 'The field (RFC 6901).' },
                parameter: { type: 'string', description: 'The query parameter.' },
              },
            },
          },
        },
      },
    },
  },
} as const;

const refused = (description: string) => ({ description, ...jsonApi(schemaOf('Errors')) });

const RESPONSES = {
  Unauthorized: refused('There is no valid token.'),
  NotFound: refused('The resource does not exist, or the caller may not know of it.'),
  UnsupportedMediaType: refused(`The content type is not ${JSON_API_MEDIA_TYPE}.`),
  Invalid: refused('A field is invalid; `source.pointer` names it.'),
  Refused: refused('The request was refused; `detail` says why.'),
} as const;

/** For `createEdgeService`: what the operations of `jsonApiRoutes` refer to. */
export const jsonApiComponents = {
  schemas: SCHEMAS,
  responses: RESPONSES,
  securitySchemes: {
    token: {
      type: 'http',
      scheme: 'bearer',
      description: 'A token of a user, a team, an organization or an agent pool.',
    },
  },
} as const;

const responseOf = (name: keyof typeof RESPONSES) => ({ $ref: `#/components/responses/${name}` });

const successOf = ({ success = 200 }: Endpoint) => ({
  [success]: {
    description: success === 204 ? 'Done.' : 'The document.',
    ...(success === 204 ? {} : jsonApi(schemaOf('Document'))),
  },
});

/** @param tag groups the operations */
export const describeEndpoint = (tag: string, definition: Endpoint): Record<string, unknown> => {
  const { summary, body } = definition;
  return {
    tags: [tag],
    summary,
    ...(body === undefined
      ? {}
      : { requestBody: { required: body.optional !== true, ...jsonApi(body.schema) } }),
    responses: {
      ...successOf(definition),
      401: responseOf('Unauthorized'),
      404: responseOf('NotFound'),
      ...(body === undefined
        ? {}
        : { 415: responseOf('UnsupportedMediaType'), 422: responseOf('Invalid') }),
      default: responseOf('Refused'),
    },
  };
};
