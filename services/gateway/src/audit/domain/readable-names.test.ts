import { expect, test } from 'vitest';
import { hideDocument, type Json } from './readable-names.ts';

const hide = (value: Json): Json => {
  if (typeof value === 'string') return 'hidden';
  if (value === null || typeof value !== 'object') return value;
  return Array.isArray(value)
    ? value.map(hide)
    : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hide(item)]));
};

test('types, ids and names of resources are readable, and nothing else', () => {
  const document = {
    data: {
      type: 'vars',
      id: 'var-1',
      attributes: {
        name: 'app',
        key: 'PASSWORD',
        value: 'a secret',
        sensitive: true,
        nested: { type: 'a secret', id: 'a secret', name: 'a secret' },
      },
      relationships: {
        workspace: { data: { type: 'workspaces', id: 'ws-1' }, links: { related: '/x' } },
        users: {
          data: [{ type: 'users', id: 'ada', attributes: { username: 'ada', email: 'x' } }],
        },
      },
    },
    included: [
      { type: 'state-version-outputs', id: 'wsout-1', attributes: { name: 'n', value: 's' } },
    ],
    meta: { name: 'a secret' },
  };
  expect(hideDocument(document, hide)).toEqual({
    data: {
      type: 'vars',
      id: 'var-1',
      attributes: {
        name: 'app',
        key: 'hidden',
        value: 'hidden',
        sensitive: true,
        nested: { type: 'hidden', id: 'hidden', name: 'hidden' },
      },
      relationships: {
        workspace: { data: { type: 'workspaces', id: 'ws-1' }, links: { related: 'hidden' } },
        users: {
          data: [{ type: 'users', id: 'ada', attributes: { username: 'ada', email: 'hidden' } }],
        },
      },
    },
    included: [
      { type: 'state-version-outputs', id: 'wsout-1', attributes: { name: 'n', value: 'hidden' } },
    ],
    meta: { name: 'hidden' },
  });
});

test.for([
  'AbCdEfGhIjKlMn.atlasv1.0123456789012345678901234567890123456789012345678901234567890123456',
  '-----BEGIN KEY-----\nAAAA\n-----END KEY-----',
  { type: 'a secret' },
  'hvs.CAESIJ0123456789012345678901234567890123456789abc',
] as const)('%j in the place of an id is hidden', (id) => {
  const hidden = hideDocument({ data: { type: 'vars', id } }, hide);
  expect(hidden).toEqual({ data: { type: 'vars', id: hide(id) } });
});

test('a text that is not a JSON:API document is hidden whole', () => {
  expect(hideDocument(['a', { data: 'b' }], hide)).toEqual(['hidden', { data: 'hidden' }]);
  expect(hideDocument({ data: 'b', errors: [{ id: 'c' }] }, hide)).toEqual({
    data: 'hidden',
    errors: [{ id: 'hidden' }],
  });
});
