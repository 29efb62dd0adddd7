/** The reference's reading of OpenAPI documents. */
import { expect, test } from 'vitest';
import { listOperations, searchOperations } from '../src/browser/docs/api-description.ts';
import { fieldsOf, type Schema, typeOf } from '../src/browser/docs/schema-fields.ts';

const rows = (schema: Schema, schemas: Readonly<Record<string, Schema>> = {}) =>
  fieldsOf(schema, schemas).map(({ path, type, isRequired }) => [path, type, isRequired]);

test.for<readonly [Schema, string]>([
  [{ type: 'string' }, 'string'],
  [{}, 'any value'],
  [{ type: ['integer', 'string'], format: 'duration' }, 'integer (duration) or string (duration)'],
  [{ type: ['array', 'null'], items: { type: 'string' } }, 'list of string or null'],
  [
    { anyOf: [{ const: 'remote' }, { const: 'agent' }, { type: 'null' }] },
    '"remote" or "agent" or null',
  ],
  [{ enum: ['a', 1] }, '"a" or 1'],
  [{ $ref: '#/components/schemas/Team' }, 'Team'],
])('the type of %j is %s', ([schema, text]) => {
  expect(typeOf(schema)).toBe(text);
});

test('fields inside objects and lists follow with their whole path', () => {
  const schema: Schema = {
    required: ['data'],
    properties: {
      data: {
        anyOf: [
          {
            type: 'array',
            items: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
          },
          { type: 'null' },
        ],
      },
    },
  };
  expect(rows(schema)).toEqual([
    ['data', 'list of object or null', true],
    ['data[].id', 'string', true],
  ]);
});

test('a named schema inside itself ends there', () => {
  const group: Schema = { properties: { name: { type: 'string' }, parent: { $ref: '#/Group' } } };
  expect(rows({ $ref: '#/Group' }, { Group: group })).toEqual([
    ['name', 'string', false],
    ['parent', 'Group', false],
  ]);
});

test('of several parts, the last one that describes a field counts', () => {
  const part = (type: string): Schema => ({
    properties: { data: { type }, id: { type: 'string' } },
  });
  expect(rows({ allOf: [part('object'), { properties: { data: { type: 'number' } } }] })).toEqual([
    ['data', 'number', false],
    ['id', 'string', false],
  ]);
});

test('default and limits are sentences', () => {
  const ttl: Schema = { type: 'integer', default: 0, minimum: 1, maximum: 10_000 };
  const [field] = fieldsOf({ properties: { ttl: { anyOf: [ttl, { type: 'null' }] } } }, {});
  expect(field?.limits).toEqual(['Default: 0.', 'At least 1.', 'At most 10,000.']);
});

test('operations are found by all words of method, path, summary and capability', () => {
  const operation = (summary: string) => ({ summary, tags: ['roles'], responses: {} });
  const operations = listOperations({
    info: { title: '', description: '' },
    servers: [],
    tags: [],
    components: {},
    paths: {
      '/{mount}/roles': { get: { ...operation('List roles'), 'x-methods': ['LIST'] } },
      '/{mount}/roles/{name}': {
        get: operation('Read a role'),
        delete: operation('Delete a role'),
      },
    },
  });
  const found = (text: string) => searchOperations(operations, text).map(({ anchor }) => anchor);
  expect(found('list')).toEqual(['get-/-mount-/roles']);
  expect(found('ROLES delete name')).toEqual(['delete-/-mount-/roles/-name-']);
  expect(found('roles')).toHaveLength(3);
  expect(found('issuers')).toEqual([]);
});
