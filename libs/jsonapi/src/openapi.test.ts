/**
 * | declared                    | in the OpenAPI document                                             |
 * | --------------------------- | ------------------------------------------------------------------- |
 * | `resourceSchema({ … })`     | a component, named as in `resource-types.ts`                        |
 * | `answers: one(type)`        | `data` is the component                                             |
 * | `answers: many(type)`       | `data` is a list of it                                              |
 * | `answers: pageOf(type)`     | the same with `links`, `meta.pagination` and the parameters of pages |
 * | `query: { name: … }`        | parameters of the query, after which come `fields` of each type       |
 * | `includes: { name: types }` | `included` is a list of these, and `include` may have the names     |
 * | `redirects: 307`            | the address is in `location`                                        |
 * | `mayBeEmpty: true`          | 204 is possible too                                                 |
 * | none of these               | 204                                                                 |
 */
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { type AnswerSchema, many, one, oneOrNone, pageOf } from './answer-schema.ts';
import { type Endpoint, endpoint } from './endpoint.ts';
import { describeEndpoint, jsonApiComponents } from './openapi.ts';
import { TEXTS } from './query.ts';
import {
  choice,
  dictionary,
  flags,
  optionalRelationship,
  orNull,
  relatedLink,
  relatedMany,
  relatedOne,
  resourceSchema,
  timestamp,
} from './resource-schema.ts';

const RUN = resourceSchema({
  type: 'runs',
  description: 'A run.',
  attributes: {
    status: choice(['pending', 'applied']),
    message: orNull(Type.String()),
    phase: orNull(choice(['plan'])),
    times: dictionary(timestamp()),
    permissions: flags(['can-apply']),
    position: Type.Optional(Type.Integer()),
  },
  relationships: {
    workspace: relatedOne('workspaces', 'linked'),
    events: relatedMany(['run-events', 'comments']),
    bindings: relatedLink('tag-bindings'),
    plan: optionalRelationship(relatedOne('plans')),
  },
  links: ['self'],
  optionalLinks: ['inherited-from'],
});

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const componentOf = (schema: Parameters<typeof jsonApiComponents>[0][number]) =>
  plain(Object.values(jsonApiComponents([schema]).schemas)[0]);

describe('a resource', () => {
  test('is a component with its attributes, relationships and links', () => {
    const text = { type: 'string' };
    const related = (types: readonly string[]) => ({
      type: 'object',
      required: ['id', 'type'],
      properties: { id: text, type: { type: 'string', enum: types } },
    });
    expect(componentOf(RUN)).toEqual({
      type: 'object',
      description: 'A run.',
      required: ['id', 'type', 'attributes', 'relationships', 'links'],
      properties: {
        id: text,
        type: { type: 'string', enum: ['runs'] },
        attributes: {
          type: 'object',
          required: ['status', 'message', 'phase', 'times', 'permissions'],
          properties: {
            status: { type: 'string', enum: ['pending', 'applied'] },
            message: { type: ['string', 'null'] },
            phase: { type: ['string', 'null'], enum: ['plan', null] },
            times: {
              type: 'object',
              additionalProperties: { type: 'string', format: 'date-time' },
            },
            permissions: {
              type: 'object',
              required: ['can-apply'],
              properties: { 'can-apply': { type: 'boolean' } },
            },
            position: { type: 'integer' },
          },
        },
        relationships: {
          type: 'object',
          required: ['workspace', 'events', 'bindings'],
          properties: {
            workspace: {
              type: 'object',
              required: ['data', 'links'],
              properties: {
                data: { ...related(['workspaces']), type: ['object', 'null'] },
                links: { type: 'object', required: ['related'], properties: { related: text } },
              },
            },
            events: {
              type: 'object',
              required: ['data'],
              properties: { data: { type: 'array', items: related(['run-events', 'comments']) } },
            },
            bindings: {
              type: 'object',
              required: ['links'],
              properties: {
                data: { type: 'array', items: related(['tag-bindings']) },
                links: { type: 'object', required: ['related'], properties: { related: text } },
              },
            },
            plan: {
              type: 'object',
              required: ['data'],
              properties: { data: { ...related(['plans']), type: ['object', 'null'] } },
            },
          },
        },
        links: {
          type: 'object',
          required: ['self'],
          properties: { self: text, 'inherited-from': text },
        },
      },
    });
  });

  test('needs no relationships and links that are all optional', () => {
    const user = resourceSchema({
      type: 'users',
      attributes: {},
      relationships: { owner: optionalRelationship(relatedOne('teams')) },
      optionalLinks: ['self'],
    });
    expect(componentOf(user)).toMatchObject({ required: ['id', 'type', 'attributes'] });
  });
});

type Given = Partial<Pick<Endpoint, 'redirects' | 'mayBeEmpty' | 'success' | 'query'>> & {
  readonly answers?: AnswerSchema;
};

const described = (given: Given) =>
  plain(
    describeEndpoint(
      'runs',
      endpoint({
        method: 'GET',
        path: '/runs',
        summary: 'Do',
        ...given,
        handle: () => Promise.resolve(undefined),
      }),
    ),
  ) as {
    readonly parameters?: readonly { readonly name: string }[];
    readonly responses: Readonly<Record<string, { readonly content?: unknown }>>;
  };

const namesOf = (given: Given): readonly string[] | undefined =>
  described(given).parameters?.map(({ name }) => name);

interface DocumentSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
}

const documentOf = (given: Given): DocumentSchema | undefined => {
  const content = described(given).responses['200']?.content as
    | Readonly<Record<string, { readonly schema: DocumentSchema }>>
    | undefined;
  return content?.['application/vnd.api+json']?.schema;
};

const RUN_REFERENCE = { $ref: '#/components/schemas/Run' };

describe('an endpoint', () => {
  test.for([
    ['one', one('runs'), RUN_REFERENCE],
    ['one or none', oneOrNone('runs'), { anyOf: [RUN_REFERENCE, { type: 'null' }] }],
    ['many', many('runs'), { type: 'array', items: RUN_REFERENCE }],
    [
      'one of several types',
      one(['runs', 'plans']),
      { anyOf: [RUN_REFERENCE, { $ref: '#/components/schemas/Plan' }] },
    ],
  ] as const)('answers with %s', ([, answers, data]) => {
    expect(documentOf({ answers })).toMatchObject({ required: ['data'], properties: { data } });
    const types: readonly string[] = answers.types;
    expect(namesOf({ answers })).toEqual(types.toSorted().map((type) => `fields[${type}]`));
  });

  test('answers with a page', () => {
    const answers = pageOf('runs', { meta: { total: Type.Integer() } });
    expect(documentOf({ answers })).toMatchObject({
      required: ['data', 'links', 'meta'],
      properties: {
        links: { $ref: '#/components/schemas/PageLinks' },
        meta: { required: ['pagination', 'total'] },
      },
    });
    expect(namesOf({ answers })).toEqual(['page[number]', 'page[size]', 'fields[runs]']);
  });

  test('has the parameters of the query that it declares', () => {
    const query = {
      q: { description: 'Part of the name.' },
      'filter[names]': { description: 'Names.', schema: TEXTS },
      'filter[type]': { description: 'A type.', schema: choice(['a']), isRequired: true },
    } as const;
    const inQuery = { in: 'query' };
    expect(described({ query }).parameters).toEqual([
      { ...inQuery, name: 'q', description: 'Part of the name.', schema: { type: 'string' } },
      {
        ...inQuery,
        name: 'filter[names]',
        description: 'Names.',
        style: 'form',
        explode: false,
        schema: { type: 'array', items: { type: 'string' } },
      },
      {
        ...inQuery,
        name: 'filter[type]',
        description: 'A type.',
        required: true,
        schema: { type: 'string', enum: ['a'] },
      },
    ]);
    expect(described({}).parameters).toBeUndefined();
  });

  test('includes what is asked for, and what always is', () => {
    const answers = one('runs', {
      includes: { plan: ['plans'], cost: [], workspace: ['workspaces'] },
      alwaysIncluded: ['users'],
    });
    const names = ['Plan', 'User', 'Workspace'];
    expect(documentOf({ answers })?.properties['included']).toEqual({
      type: 'array',
      items: { anyOf: names.map((name) => ({ $ref: `#/components/schemas/${name}` })) },
    });
    expect(described({ answers }).parameters).toMatchObject([
      {
        name: 'include',
        explode: false,
        schema: { items: { enum: ['plan', 'cost', 'workspace'] } },
      },
      ...['plans', 'runs', 'users', 'workspaces'].map((type) => ({ name: `fields[${type}]` })),
    ]);
  });

  test.for([
    [{}, ['200', '204']],
    [{ success: 202 }, ['202']],
    [{ answers: one('runs'), success: 201 }, ['201']],
    [{ answers: one('runs'), mayBeEmpty: true }, ['200', '204']],
    [{ redirects: 307, mayBeEmpty: true }, ['204', '307']],
    [{ redirects: 302 }, ['302']],
  ] as const)('%j is answered with %j', ([given, statuses]) => {
    const { responses } = described(given);
    expect(Object.keys(responses).filter((status) => /^[23]/.test(status))).toEqual(statuses);
  });
});
