/** OpenAPI 3.1 operations from declared fields, and the components that they refer to. */
import type { EdgeMethod } from '@keelson/edge';
import type { JsonObject } from './coercions.ts';
import { type Field, type Fields, propertiesOf } from './fields.ts';
import type { DescribedAnswer } from './operations.ts';

export interface DescribedOperation {
  readonly method: EdgeMethod;
  readonly path: string;
  readonly tag: string;
  readonly fields: Fields;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly answer?: DescribedAnswer | undefined;
}

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const schemaOf = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const refused = (description: string) => ({ description, ...json(schemaOf('Errors')) });

const RESPONSES = {
  Denied: refused('There is no valid token, or its policies do not allow this.'),
  NotFound: refused('There is nothing at this path, or the list is empty.'),
  Refused: refused('The request was refused; `errors` say why.'),
} as const;

/** For `createEdgeService`: what the operations of `secretsRoutes` refer to. */
export const secretsComponents = {
  schemas: {
    Envelope: {
      type: 'object',
      required: ['request_id', 'lease_id', 'renewable', 'lease_duration', 'warnings'],
      properties: {
        request_id: { type: 'string' },
        lease_id: { type: 'string' },
        renewable: { type: 'boolean' },
        lease_duration: { type: 'integer', description: 'In seconds.' },
        wrap_info: { type: ['object', 'null'], additionalProperties: true },
        warnings: { type: ['array', 'null'], items: { type: 'string' } },
        auth: { type: ['object', 'null'], additionalProperties: true },
        mount_type: { type: 'string', description: 'Absent if no mount answers.' },
      },
    },
    Errors: {
      type: 'object',
      required: ['errors'],
      properties: { errors: { type: 'array', items: { type: 'string' } } },
    },
  },
  responses: RESPONSES,
  securitySchemes: {
    token: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Service-Token',
      description: 'A token of `auth/token`; `X-Vault-Token` is the same.',
    },
    bearer: { type: 'http', scheme: 'bearer', description: 'The same token.' },
  },
} as const;

const responseOf = (name: keyof typeof RESPONSES) => ({ $ref: `#/components/responses/${name}` });

/** Names that a path captures. */
export const parameterNames = (path: string): readonly string[] => [
  ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? ''),
  ...(path.includes('*') ? ['path'] : []),
];

const isRequired = (fields: Fields, name: string): boolean => fields[name]?.required === true;

const members = (properties: object) => ({ type: 'object', properties });

const withData = (data: object) =>
  json({ allOf: [schemaOf('Envelope'), { ...members({ data }), required: ['data'] }] });

const ANYTHING = { type: ['object', 'null'], additionalProperties: true } as const;

const withMirrored = (mirrored: object) => {
  const areNamed = Object.keys(mirrored).length > 0;
  const top = members({ ...mirrored, data: areNamed ? members(mirrored) : ANYTHING });
  return json({
    allOf: [
      schemaOf('Envelope'),
      { ...top, required: ['data'], ...(areNamed ? {} : { additionalProperties: true }) },
    ],
  });
};

const KEYS = {
  type: 'object',
  required: ['keys'],
  properties: {
    keys: { type: 'array', items: { type: 'string' } },
    key_info: { type: 'object', additionalProperties: true },
  },
} as const;

const PAGE = { 'text/html': {} } as const;

const withPage = <Described extends { readonly content: object }>(described: Described) => ({
  ...described,
  content: { ...described.content, ...PAGE },
});

const contentOf = ({ method, answer }: DescribedOperation) => {
  if (answer === undefined) return withData(method === 'LIST' ? KEYS : ANYTHING);
  if ('mediaType' in answer) return { content: { [answer.mediaType]: {} } };
  if ('mirrored' in answer) return withMirrored(answer.mirrored);
  return 'data' in answer ? withData(members(answer.data)) : json(members(answer.document));
};

const successOf = (operation: DescribedOperation) => {
  const { method, answer } = operation;
  const isRead = method === 'GET' || method === 'LIST';
  const isBytes = answer !== undefined && 'mediaType' in answer;
  const statuses = [200, ...(answer?.statuses ?? [])];
  const isForBrowsers = answer?.isForBrowsers === true;
  const content = isForBrowsers ? withPage(contentOf(operation)) : contentOf(operation);
  return {
    ...Object.fromEntries(
      statuses.map((status) => [status, { description: 'The answer.', ...content }]),
    ),
    ...(isForBrowsers && { 303: { description: 'The browser goes on.' } }),
    ...(isBytes
      ? { 204: { description: 'There is nothing to show.' } }
      : isRead
        ? {}
        : { 204: { description: 'Done.' } }),
  };
};

const refusalsOf = ({ answer }: DescribedOperation) => {
  const { statuses, document } = answer?.refusals ?? { statuses: [], document: {} };
  const content = json({ anyOf: [members(document), schemaOf('Errors')] });
  return Object.fromEntries(
    statuses.map((status) => [status, { description: 'The request was refused.', ...content }]),
  );
};

/** A parameter of the path is never absent, so that it has no default. */
const schemaInPath = (declared: Field<unknown> | undefined): JsonObject => {
  const { default: _default, ...schema } = declared?.schema ?? { type: 'string' };
  return schema;
};

/** Path parameters come from the path, the others from the body of writes and the query of the rest. */
export const describeOperation = (operation: DescribedOperation): Record<string, unknown> => {
  const { method, path, fields } = operation;
  const captured = parameterNames(path);
  const others = Object.keys(fields).filter((name) => !captured.includes(name));
  const bodyFields = Object.fromEntries(
    Object.entries(fields).filter(([name]) => others.includes(name)),
  );
  const writes = method === 'POST' || method === 'PUT' || method === 'PATCH';
  const parameter = (name: string, place: 'path' | 'query') => ({
    name,
    in: place,
    required: place === 'path' || isRequired(fields, name),
    description: fields[name]?.description ?? '',
    schema: place === 'path' ? schemaInPath(fields[name]) : fields[name]?.schema,
  });
  const required = others.filter((name) => isRequired(fields, name));
  return {
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    tags: [operation.tag],
    parameters: [
      ...captured.map((name) => parameter(name, 'path')),
      ...(writes ? [] : others.map((name) => parameter(name, 'query'))),
    ],
    ...(writes && others.length > 0
      ? {
          requestBody: {
            content: {
              [method === 'PATCH' ? 'application/merge-patch+json' : 'application/json']: {
                schema: {
                  type: 'object',
                  properties: propertiesOf(bodyFields),
                  ...(required.length > 0 && method !== 'PATCH' ? { required } : {}),
                },
              },
            },
          },
        }
      : {}),
    responses: {
      ...successOf(operation),
      403: responseOf('Denied'),
      404: responseOf('NotFound'),
      default:
        operation.answer?.isForBrowsers === true
          ? withPage(RESPONSES.Refused)
          : responseOf('Refused'),
      ...refusalsOf(operation),
    },
  };
};
