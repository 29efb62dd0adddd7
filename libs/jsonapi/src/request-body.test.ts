import { KeelsonError } from '@keelson/errors';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { invalidAttribute } from './error-document.ts';
import { createBodyDecoder, nullable, resourceBody } from './request-body.ts';

const decoder = createBodyDecoder(
  resourceBody(
    'workspaces',
    Type.Object({
      name: Type.String(),
      'runtime-version': Type.Optional(nullable(Type.String())),
      'vcs-repo': Type.Optional(
        nullable(Type.Object({ 'oauth-token-id': Type.Optional(Type.String()) })),
      ),
    }),
  ),
  { 'terraform-version': 'runtime-version' },
);

const document = (attributes: unknown) => ({ data: { type: 'workspaces', attributes } });

const refusalOf = (value: unknown): readonly KeelsonError[] => {
  try {
    decoder.decode(value);
  } catch (error) {
    if (error instanceof AggregateError) return error.errors as KeelsonError[];
    if (error instanceof KeelsonError) return [error];
    throw error;
  }
  throw new Error('the document was accepted');
};

describe('request document', () => {
  test('drops unknown attributes', () => {
    expect(decoder.decode(document({ name: 'a', other: 1 }))).toEqual(document({ name: 'a' }));
  });

  test('adds the type that it can only have', () => {
    expect(decoder.decode({ data: { attributes: { name: 'a' } } })).toEqual(
      document({ name: 'a' }),
    );
  });

  test('reads names with underscores, in nested objects too', () => {
    const given = document({ name: 'a', vcs_repo: { oauth_token_id: 'ot-1' } });
    expect(decoder.decode(given)).toEqual(
      document({ name: 'a', 'vcs-repo': { 'oauth-token-id': 'ot-1' } }),
    );
  });

  test('replaces an old name by the current one', () => {
    expect(decoder.decode(document({ name: 'a', 'terraform-version': '1.5.0' }))).toEqual(
      document({ name: 'a', 'runtime-version': '1.5.0' }),
    );
  });

  test('is refused with pointers that use the names in the request', () => {
    const given = document({ name: 'a', terraform_version: 5, vcs_repo: { oauth_token_id: 5 } });
    expect(refusalOf(given).map(({ params }) => params['pointer'])).toEqual([
      '/data/attributes/terraform_version',
      '/data/attributes/vcs_repo/oauth_token_id',
    ]);
  });

  test('is refused later with pointers that use the names in the request, too', () => {
    const decoded = decoder.decode(document({ name: 'a', 'terraform-version': '1.5.0' }));
    const pointersOf = (...names: readonly string[]) => {
      const refusals = names.map((name) => invalidAttribute(`/data/attributes/${name}`, 'no'));
      const shown = decoder.pointToGiven(decoded, new AggregateError(refusals));
      return (shown as AggregateError).errors.map(({ params }) => params.pointer);
    };
    expect(pointersOf('runtime-version', 'name')).toEqual([
      '/data/attributes/terraform-version',
      '/data/attributes/name',
    ]);
    const other = new KeelsonError('jsonapi.unauthorized');
    expect(decoder.pointToGiven(decoded, other)).toBe(other);
    expect(decoder.pointToGiven(undefined, other)).toBe(other);
  });

  test('accepts both names with one value and refuses two values', () => {
    const both = { name: 'a', 'terraform-version': '1.5.0', 'runtime-version': '1.5.0' };
    expect(decoder.decode(document(both))).toEqual(
      document({ name: 'a', 'runtime-version': '1.5.0' }),
    );
    const refusal = refusalOf(document({ ...both, 'runtime-version': '1.6.0' }));
    expect(refusal.map(({ params }) => params['pointer'])).toEqual([
      '/data/attributes/terraform-version',
    ]);
  });

  test.for([
    ['a body that is no object', [], ''],
    ['no data', {}, '/data'],
    ['an empty type', { data: { type: '', attributes: { name: 'a' } } }, '/data/type'],
    ['another type', { data: { type: 'runs', attributes: { name: 'a' } } }, '/data/type'],
    ['no attributes', { data: { type: 'workspaces' } }, '/data/attributes/name'],
    ['a number for text', document({ name: 7 }), '/data/attributes/name'],
    [
      'a wrong type inside',
      document({ name: 'a', 'vcs-repo': { 'oauth-token-id': 1 } }),
      '/data/attributes/vcs-repo/oauth-token-id',
    ],
  ] as const)('reports the field that is wrong: %s', ([, value, pointer]) => {
    const pointers = refusalOf(value).map(({ params }) => params['pointer']);
    expect(pointers).toContain(pointer);
  });

  test('lists the values of an enumeration, and reports each wrong text as well', () => {
    const mode = Type.Union([Type.Literal('remote'), Type.Literal('local')]);
    const attributes = Type.Object({
      'execution-mode': Type.Optional(nullable(mode)),
      name: Type.String(),
      other: Type.Optional(Type.String()),
    });
    const strict = createBodyDecoder(resourceBody('workspaces', attributes), {}, (texts) =>
      Object.keys(texts).map((name) => ({ pointer: `/data/attributes/${name}`, text: 'no' })),
    );
    const given = document({ execution_mode: 'cloud', name: '!', other: 5 });
    expect(() => strict.decode(given)).toThrow(
      expect.objectContaining({
        errors: [
          expect.objectContaining({
            message: 'execution-mode is not one of the allowed values: remote, local',
            params: expect.objectContaining({ pointer: '/data/attributes/execution_mode' }),
          }),
          expect.objectContaining({ message: 'other must be string' }),
          expect.objectContaining({
            params: { pointer: '/data/attributes/name', text: 'no' },
          }),
        ],
      }),
    );
    // A value that the schema accepts is left to the handler.
    expect(strict.decode(document({ name: '!' }))).toEqual(document({ name: '!' }));
  });

  test('reports the wrong member of a nullable field instead of the field itself', () => {
    const wrong = document({ name: 'a', 'vcs-repo': { 'oauth-token-id': 1 } });
    expect(refusalOf(wrong).map(({ params }) => params['pointer'])).toEqual([
      '/data/attributes/vcs-repo/oauth-token-id',
    ]);
  });
});
