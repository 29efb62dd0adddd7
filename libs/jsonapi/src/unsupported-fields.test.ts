import { describe, expect, test } from 'vitest';
import { findUnsupported, warnOfUnsupported } from './unsupported-fields.ts';

const REASONS = {
  'attributes/access/manage-modules': 'there is no registry',
  'relationships/agent-pool/data': 'there are no pools',
  id: 'ids are not used',
};
const attributes = (access: unknown) => ({ data: { attributes: { access } } });

describe('a field that is not supported', () => {
  test.for([true, 1, 'read', ['a'], {}])('is found when it asks for something: %j', (value) => {
    const found = findUnsupported(attributes({ 'manage-modules': value }), REASONS);
    expect(found).toEqual([
      { pointer: '/data/attributes/access/manage-modules', text: 'there is no registry' },
    ]);
  });

  test.for([false, null, '', 'none', [], undefined])('is let pass as %j', (value) => {
    expect(findUnsupported(attributes({ 'manage-modules': value }), REASONS)).toEqual([]);
  });

  test('is found with the value that is not supported alone', () => {
    const reasons = { 'attributes/access/mode=fast': 'there is one speed' };
    expect(findUnsupported(attributes({ mode: 'fast' }), reasons)).toEqual([
      { pointer: '/data/attributes/access/mode', text: 'there is one speed' },
    ]);
    for (const mode of ['slow', 'fas', '', null, undefined, ['fast'], true])
      expect(findUnsupported(attributes({ mode }), reasons)).toEqual([]);
  });

  test('is named as the request names it', () => {
    expect(findUnsupported(attributes({ manage_modules: true }), REASONS)).toMatchObject([
      { pointer: '/data/attributes/access/manage_modules' },
    ]);
  });

  test.for([undefined, null, 'text', { data: null }, { data: [] }, attributes(null)])(
    'is not in the document %j',
    (document) => {
      expect(findUnsupported(document, REASONS)).toEqual([]);
      expect(findUnsupported(document)).toEqual([]);
    },
  );

  test('is warned of by its name', () => {
    const relationships = { 'agent-pool': { data: { id: 'apool-1' } } };
    const data = { ...attributes({ 'manage-modules': true }).data, relationships, id: 'x' };
    expect(warnOfUnsupported({ data }, REASONS)).toEqual([
      'access/manage-modules has no effect: there is no registry',
      'agent-pool has no effect: there are no pools',
      'id has no effect: ids are not used',
    ]);
  });
});
