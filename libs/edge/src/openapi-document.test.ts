import { expect, test } from 'vitest';
import { toOpenApiDocument } from './openapi-document.ts';

const description = {
  service: 'pki',
  pathPrefix: '/v1/{mount}',
  title: 'Certificates',
  version: '1',
  text: '',
  componentsJson: '{}',
};

test('tags are in order, those of protocols last', () => {
  const tagged = (tag: string) => ({ get: { tags: [tag], responses: {} } });
  const { tags } = toOpenApiDocument({
    ...description,
    pathsJson: JSON.stringify({
      '/acme': tagged('ACME'),
      '/roles': tagged('roles'),
      '/issue': tagged('issuing'),
    }),
  });
  expect(tags).toEqual([{ name: 'issuing' }, { name: 'roles' }, { name: 'ACME' }]);
});

test('an address that is read and listed has the parameters of both', () => {
  const parameter = (name: string, place: string) => ({ name, in: place, schema: {} });
  const path = parameter('path', 'path');
  const { paths } = toOpenApiDocument({
    ...description,
    pathsJson: JSON.stringify({
      '/secrets/{path}': {
        get: { parameters: [path, parameter('version', 'query')], responses: {} },
        'x-list': {
          parameters: [path, parameter('version', 'query'), parameter('limit', 'query')],
          responses: {},
        },
      },
    }),
  });
  const { get } = paths['/{mount}/secrets/{path}'] ?? {};
  expect(get).toMatchObject({ 'x-methods': ['GET', 'LIST'] });
  expect((get?.parameters ?? []).map(({ name }) => name)).toEqual([
    'mount',
    'path',
    'list',
    'version',
    'limit',
  ]);
});
