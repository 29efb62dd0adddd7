/** OpenAPI 3.1 operations of JSON:API endpoints, and the components that they refer to. */
import { type TProperties, type TSchema, Type } from 'typebox';
import type { AnswerSchema } from './answer-schema.ts';
import type { Endpoint } from './endpoint.ts';
import { JSON_API_MEDIA_TYPE } from './error-document.ts';
import { type QueryParameter, type QuerySchema, TEXTS } from './query.ts';
import {
  choice,
  orNull,
  type RelationshipSchema,
  type RelationshipSchemas,
  type ResourceSchema,
} from './resource-schema.ts';
import { type ResourceType, SCHEMA_NAMES } from './resource-types.ts';
import { typesShown } from './sparse-fields.ts';

const jsonApi = (schema: object) => ({ content: { [JSON_API_MEDIA_TYPE]: { schema } } });
const schemaOf = (name: string): TSchema => Type.Unsafe({ $ref: `#/components/schemas/${name}` });
const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const listOf = (names: readonly string[], schema: TSchema): TProperties =>
  Object.fromEntries(names.map((name) => [name, schema]));

/** One of the resources of these types. */
const resourceOf = (types: readonly ResourceType[]): TSchema => {
  const [first, ...others] = types.map((type) => schemaOf(SCHEMA_NAMES[type]));
  return others.length === 0 && first !== undefined
    ? first
    : Type.Unsafe({ anyOf: [first, ...others] });
};

const SCHEMAS = {
  PageLinks: Type.Object(
    listOf(['self', 'first', 'prev', 'next', 'last'], orNull(Type.String({ format: 'uri' }))),
    { description: 'Null where there is no such page.' },
  ),
  Pagination: Type.Object({
    'current-page': count,
    'page-size': count,
    'prev-page': orNull(count),
    'next-page': orNull(count),
    'total-pages': count,
    'total-count': count,
  }),
  Warnings: Type.Array(text, {
    description: 'How the effect of the request may differ from what was expected.',
  }),
  Errors: Type.Object({
    errors: Type.Array(
      Type.Object({
        status: Type.String({ description: 'The HTTP status.' }),
        title: text,
        detail: Type.Optional(text),
        source: Type.Optional(
          Type.Object({
            pointer: Type.Optional(Type.String({ description: 'The field (RFC 6901).' })),
            parameter: Type.Optional(Type.String({ description: 'The query parameter.' })),
          }),
        ),
      }),
      { minItems: 1 },
    ),
  }),
} as const;

/** A refusal, for routes that describe themselves. */
export const refused = (description: string) => ({ description, ...jsonApi(schemaOf('Errors')) });

const RESPONSES = {
  Unauthorized: refused('There is no valid token.'),
  NotFound: refused('The resource does not exist, or the caller may not know of it.'),
  UnsupportedMediaType: refused(`The content type is not ${JSON_API_MEDIA_TYPE}.`),
  Invalid: refused('A field is invalid; `source.pointer` names it.'),
  Refused: refused('The request was refused; `detail` says why.'),
} as const;

const optionally = (isOptional: boolean, schema: TSchema): TSchema =>
  isOptional ? Type.Optional(schema) : schema;

const relationshipOf = ({ to, types, isLinked, isOptional }: RelationshipSchema): TSchema => {
  const identifier = Type.Object({ id: text, type: choice(types) });
  const data = to === 'one' ? orNull(identifier) : Type.Array(identifier);
  return optionally(
    isOptional,
    Type.Object({
      data: optionally(to === 'link', data),
      ...(isLinked && { links: Type.Object({ related: text }) }),
    }),
  );
};

const linksOf = ({ links = [], optionalLinks = [] }: ResourceSchema): TSchema =>
  optionally(
    links.length === 0,
    Type.Object({ ...listOf(links, text), ...listOf(optionalLinks, Type.Optional(text)) }),
  );

const relationshipsOf = (relationships: RelationshipSchemas): TSchema => {
  const schemas = Object.values(relationships);
  const members = Object.entries(relationships).map(([name, one]) => [name, relationshipOf(one)]);
  return optionally(
    schemas.every(({ isOptional }) => isOptional),
    Type.Object(Object.fromEntries(members) as TProperties),
  );
};

const describeResource = (resource: ResourceSchema): TSchema => {
  const { type, description, attributes, relationships, links, optionalLinks } = resource;
  return Type.Object(
    {
      id: text,
      type: choice([type]),
      ...(attributes && { attributes: Type.Object(attributes) }),
      ...(relationships && { relationships: relationshipsOf(relationships) }),
      ...((links ?? optionalLinks) && { links: linksOf(resource) }),
    },
    description === undefined ? {} : { description },
  );
};

/**
 * For `createEdgeService`: what the operations of `jsonApiRoutes` refer to.
 * @param resources one for each type that the routes answer with
 */
export const jsonApiComponents = (resources: readonly ResourceSchema[]) => ({
  schemas: {
    ...Object.fromEntries(
      resources.map((resource) => [SCHEMA_NAMES[resource.type], describeResource(resource)]),
    ),
    ...SCHEMAS,
  },
  responses: RESPONSES,
  securitySchemes: {
    token: {
      type: 'http',
      scheme: 'bearer',
      description: 'A token of a user, a team, an organization or an agent pool.',
    },
  },
});

const responseOf = (name: keyof typeof RESPONSES) => ({ $ref: `#/components/responses/${name}` });

const META = { warnings: Type.Optional(schemaOf('Warnings')) };

const dataOf = ({ kind, types }: AnswerSchema): TSchema => {
  const resource = resourceOf(types);
  if (kind === 'one') return resource;
  if (kind === 'one or none') return Type.Union([resource, Type.Null()]);
  return Type.Array(resource);
};

const documentOf = (answer: AnswerSchema): TSchema => {
  const { kind, includes = {}, alwaysIncluded = [], meta, links } = answer;
  const included = [...new Set([...alwaysIncluded, ...Object.values(includes).flat()])].toSorted();
  const isPage = kind === 'page';
  const members = Type.Object({
    ...(isPage && { pagination: schemaOf('Pagination') }),
    ...meta,
    ...META,
  });
  return Type.Object({
    data: dataOf(answer),
    ...(included.length > 0 && { included: Type.Optional(Type.Array(resourceOf(included))) }),
    ...(isPage && { links: schemaOf('PageLinks') }),
    ...(links && { links: Type.Object(listOf(links, text)) }),
    meta: optionally(!isPage, members),
  });
};

const inQuery = (name: string, { description, schema = text, isRequired }: QueryParameter) => ({
  name,
  in: 'query',
  description,
  ...(isRequired && { required: true }),
  // Lists are one value, separated by commas.
  ...((schema as { type?: string }).type === 'array' && { style: 'form', explode: false }),
  schema,
});

const PAGE = {
  'page[number]': { description: 'The page, 1 by default.', schema: Type.Integer({ minimum: 1 }) },
  'page[size]': {
    description: 'Resources on a page, 20 by default; more than 100 are 100.',
    schema: Type.Integer({ minimum: 1 }),
  },
} as const satisfies QuerySchema;

/** Parameters that follow from the form of the answer. */
const answerParameters = (answer: AnswerSchema): QuerySchema => {
  const { kind, includes = {} } = answer;
  const names = Object.keys(includes);
  return {
    ...(kind === 'page' && PAGE),
    ...(names.length > 0 && {
      include: { description: 'Related resources to include.', schema: Type.Array(choice(names)) },
    }),
    ...Object.fromEntries(
      [...typesShown(answer)].toSorted().map((type) => [
        `fields[${type}]`,
        {
          description: `Attributes and relationships of ${type} to show, all by default.`,
          schema: TEXTS,
        },
      ]),
    ),
  };
};

const parametersOf = ({ query, answers }: Endpoint) =>
  Object.entries({ ...query, ...(answers && answerParameters(answers)) }).map(([name, parameter]) =>
    inQuery(name, parameter),
  );

const successOf = ({ answers, redirects, mayBeEmpty, success }: Endpoint) => {
  const empty = { 204: { description: 'There is none.' } };
  if (answers !== undefined)
    return {
      [success ?? 200]: { description: 'The document.', ...jsonApi(documentOf(answers)) },
      ...(mayBeEmpty === true && empty),
    };
  if (redirects !== undefined)
    return {
      [redirects]: {
        description: 'The content is at the address in `Location`, for a short time.',
        headers: { location: { description: 'The address.', required: true, schema: text } },
      },
      ...(mayBeEmpty === true && empty),
    };
  return success === 202
    ? { 202: { description: 'Accepted.' } }
    : {
        200: {
          description: 'Done, with warnings.',
          ...jsonApi(Type.Object({ meta: Type.Object({ warnings: schemaOf('Warnings') }) })),
        },
        204: { description: 'Done.' },
      };
};

/** @param tag groups the operations */
export const describeEndpoint = (tag: string, definition: Endpoint): Record<string, unknown> => {
  const { summary, body, isOpen } = definition;
  const parameters = parametersOf(definition);
  return {
    tags: [tag],
    summary,
    ...(isOpen === true && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
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
