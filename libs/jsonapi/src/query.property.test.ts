import fc from 'fast-check';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { parsePage } from './pagination.ts';
import { queryReader } from './query.ts';
import { choice, timestamp } from './resource-schema.ts';

/** A query string of an endpoint without further parameters. */
const parseQuery = queryReader();

/** Any text without U+0000, which is refused. */
const text = fc.string().filter((given) => !given.includes('\u0000'));
const segment = fc.stringMatching(/^[a-z0-9-]{1,8}$/);

describe('query parameters', () => {
  test('return every value under the path with which it was written', () => {
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), text, (path, value) => {
        const [head = '', ...inner] = path;
        const name = head + inner.map((part) => `[${part}]`).join('');
        const read = queryReader({ [name]: { description: '' } });
        for (const spelt of [name, name.replaceAll('-', '_')]) {
          const query = read(new URLSearchParams([[spelt, value]]));
          expect(query.one(...path)).toBe(value);
          expect(query.children(...path.slice(0, -1))).toEqual(
            path.length === 1 ? [] : [path.at(-1)?.replaceAll('-', '_')],
          );
        }
      }),
    );
  });

  test('never cause an error, whatever the query string contains but U+0000', () => {
    fc.assert(
      fc.property(fc.string(), (given) => {
        const parameters = new URLSearchParams(given);
        fc.pre(![...parameters].flat().join('').includes('\u0000'));
        const query = parseQuery(parameters);
        expect(query.list('include')).not.toContain('');
        expect(query.children('filter', 'tagged')).toEqual([]);
      }),
    );
  });

  test('refuse a page number and a size that are no whole number from 1, by their names', () => {
    const name = fc.constantFrom('page[number]', 'page[size]');
    const other = text.filter((value) => !/^(?:|0*[1-9]\d*)$/.test(value));
    fc.assert(
      fc.property(name, other, (parameter, value) => {
        expect(() => parseQuery(new URLSearchParams([[parameter, value]]))).toThrow(
          expect.objectContaining({ params: { parameter, text: 'must be a whole number from 1' } }),
        );
      }),
    );
  });

  test('accept a page number of any length, reduced to the maximum', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 40n }), (value) => {
        const query = parseQuery(new URLSearchParams(`page[number]=${value}&page[size]=${value}`));
        expect(parsePage(query)).toEqual({
          number: value > 1_000_000_000n ? 1_000_000_000 : Number(value),
          size: value > 100n ? 100 : Number(value),
        });
      }),
    );
  });

  test('have names that the endpoint declares: others are refused if they choose, and never read', () => {
    const read = queryReader({ 'filter[tagged][0][key]': { description: 'A key.' } });
    const given = read(new URLSearchParams('filter[tagged][7][key]=a&private=1&search[name]='));
    expect(given.one('filter', 'tagged', '7', 'key')).toBe('a');
    expect(() => given.requireKnown()).not.toThrow();
    expect(() => given.one('filter', 'other')).toThrow('does not declare');
    const unknown = read(new URLSearchParams('filter[tagged][7][value]=a'));
    expect(() => unknown.requireKnown()).toThrow('filter[tagged][7][value]');
  });

  test.for([
    ['filter[status]=a,c', 'filter[status] must be one of a, b'],
    ['filter[status]=,c', 'filter[status] must be one of a, b'],
    ['filter[names]=x,y,z', 'filter[names] has at most 2 values'],
    ['filter[since]=yesterday', 'filter[since] must be an RFC 3339 time'],
  ])('%s is refused: %s', ([given, text]) => {
    const read = queryReader({
      'filter[status]': { description: '', schema: Type.Array(choice(['a', 'b'])) },
      'filter[names]': { description: '', schema: Type.Array(Type.String(), { maxItems: 2 }) },
      'filter[since]': { description: '', schema: timestamp() },
    });
    expect(() => read(new URLSearchParams(given))).toThrow(text);
    const empty = new URLSearchParams(given?.replace(/=.*/, '='));
    expect(() => read(empty)).not.toThrow();
  });

  test('refuses more parameters than any request needs', () => {
    const many = new URLSearchParams(
      Object.fromEntries(Array.from({ length: 257 }, (_, at) => [`a${at}`, ''])),
    );
    expect(() => parseQuery(many)).toThrow('too many query parameters');
  });
});
