import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type FilterablePath,
  type FilterMode,
  parsePathsFilter,
  passesFilter,
  toDynamicFilter,
} from './paths-filter.ts';

const segment = fc.constantFrom('a', 'b', 'ab', 'team', 'kv');
const path = fc
  .array(segment, { minLength: 1, maxLength: 4 })
  .map((segments) => `${segments.join('/')}/`);
const filterable: fc.Arbitrary<FilterablePath> = fc.record({
  type: fc.constantFrom('mount' as const, 'namespace' as const),
  path,
});
const mode = fc.constantFrom<FilterMode>('allow', 'deny');
const paths = fc.array(path, { maxLength: 5 });

const passes = (filterMode: FilterMode, listed: readonly string[], one: FilterablePath): boolean =>
  passesFilter(parsePathsFilter(filterMode, listed), one);

describe('a paths filter', () => {
  test.for([
    ['allow', ['kv/'], 'mount', 'kv/', true],
    ['allow', ['kv/'], 'mount', 'kv2/', false],
    ['allow', ['kv'], 'mount', 'kv/', true],
    ['allow', ['team/'], 'mount', 'team/kv/', true],
    ['allow', ['team/kv/'], 'namespace', 'team/', true],
    ['allow', ['team/kv/'], 'mount', 'team/other/', false],
    ['allow', ['team/kv/'], 'namespace', 'te/', false],
    ['allow', [], 'mount', 'kv/', false],
    ['deny', [], 'mount', 'kv/', true],
    ['deny', ['team/'], 'mount', 'team/sub/kv/', false],
    ['deny', ['team/'], 'namespace', 'team/sub/', false],
    ['deny', ['team/kv/'], 'namespace', 'team/', true],
    ['deny', ['auth/x/'], 'mount', 'auth/y/', true],
  ] as const)('%s %j: %s %s crosses: %s', ([filterMode, listed, type, one, expected]) => {
    expect(passes(filterMode, listed, { type, path: one })).toBe(expected);
  });

  test('allows a mount exactly where denying the same list does not', () => {
    fc.assert(
      fc.property(paths, path, (listed, one) => {
        const mount: FilterablePath = { type: 'mount', path: one };
        expect(passes('allow', listed, mount)).toBe(!passes('deny', listed, mount));
      }),
      propertySettings(),
    );
  });

  test('covers the whole subtree of a namespace', () => {
    fc.assert(
      fc.property(path, path, (namespace, below) => {
        const mount: FilterablePath = { type: 'mount', path: namespace + below };
        expect(passes('allow', [namespace], mount)).toBe(true);
        expect(passes('deny', [namespace], mount)).toBe(false);
      }),
      propertySettings(),
    );
  });

  test('replicates the namespaces that lead to anything it replicates', () => {
    fc.assert(
      fc.property(mode, paths, path, (filterMode, listed, one) => {
        fc.pre(passes(filterMode, listed, { type: 'mount', path: one }));
        const segments = one.split('/').slice(0, -1);
        for (let depth = 1; depth < segments.length; depth += 1)
          expect(
            passes(filterMode, listed, {
              type: 'namespace',
              path: `${segments.slice(0, depth).join('/')}/`,
            }),
          ).toBe(true);
      }),
      propertySettings(),
    );
  });

  test('treats a path the same with and without slashes around it', () => {
    fc.assert(
      fc.property(mode, path, filterable, (filterMode, listed, one) => {
        const bare = listed.slice(0, -1);
        expect(passes(filterMode, [`/${bare}`], one)).toBe(passes(filterMode, [listed], one));
        expect(passes(filterMode, [bare], one)).toBe(passes(filterMode, [listed], one));
      }),
      propertySettings(),
    );
  });

  test('lists everything it withholds, and only that', () => {
    fc.assert(
      fc.property(mode, paths, fc.array(filterable), (filterMode, listed, all) => {
        const filter = parsePathsFilter(filterMode, listed);
        const { dynamic_filtered_mounts, dynamic_filtered_namespaces } = toDynamicFilter(
          filter,
          all,
        );
        for (const one of all) {
          const filtered =
            one.type === 'mount' ? dynamic_filtered_mounts : dynamic_filtered_namespaces;
          expect(filtered.includes(one.path)).toBe(!passesFilter(filter, one));
        }
      }),
      propertySettings(),
    );
  });

  test.for(['', '/', '..', 'a/../b', 'a//b', 'a\u0000b', 'x'.repeat(2000)])(
    'refuses the path %j',
    (bad) => {
      expect(() => parsePathsFilter('allow', [bad])).toThrow(
        expect.objectContaining({ code: 'request.invalid' }),
      );
    },
  );

  test('refuses another mode', () => {
    expect(() => parsePathsFilter('both', [])).toThrow(
      expect.objectContaining({ code: 'request.invalid' }),
    );
  });
});
