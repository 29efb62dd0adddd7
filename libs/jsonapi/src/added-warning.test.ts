import { expect, test } from 'vitest';
import { metaWarnings } from './jsonapi.ts';

test('a warning is added to the existing meta of a document', () => {
  expect(metaWarnings.inDocument({ data: null, meta: { 'total-count': 1 } }, 'late')).toEqual({
    data: null,
    meta: { 'total-count': 1, warnings: ['late'] },
  });
  expect(metaWarnings.inDocument({ meta: { warnings: ['first'] } }, 'late')).toEqual({
    meta: { warnings: ['first', 'late'] },
  });
});

test('a warning turns a 204 into a document', () => {
  const { head, body } = metaWarnings.inPlaceOfNothing('late');
  expect([head.status, head.headers]).toEqual([
    200,
    [{ name: 'content-type', value: 'application/vnd.api+json' }],
  ]);
  expect(JSON.parse(Buffer.from(body as Uint8Array).toString())).toEqual({
    meta: { warnings: ['late'] },
  });
});
