import { expect, test } from 'vitest';
import { toOpenApiDocument } from './openapi-document.ts';

test('tags are in order, those of protocols last', () => {
  const tagged = (tag: string) => ({ get: { tags: [tag], responses: {} } });
  const { tags } = toOpenApiDocument({
    service: 'pki',
    pathPrefix: '/v1/{mount}',
    title: 'Certificates',
    version: '1',
    text: '',
    pathsJson: JSON.stringify({
      '/acme': tagged('ACME'),
      '/roles': tagged('roles'),
      '/issue': tagged('issuing'),
    }),
    componentsJson: '{}',
  });
  expect(tags).toEqual([{ name: 'issuing' }, { name: 'roles' }, { name: 'ACME' }]);
});
