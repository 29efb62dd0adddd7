import { describe, expect, test } from 'vitest';
import { findCircles, findForbidden, findOutsideImports, importsOf } from './import-graph.ts';

const imports = (...arrows: readonly (readonly [from: string, to: string])[]) =>
  arrows.map(([from, to]) => ({ from, to }));

describe('every kind of import is found', () => {
  const packages = { '@keelson/errors': 'libs/errors', '@keelson/edge': 'libs/edge' };
  const readFrom = (text: string) =>
    importsOf('libs/edge/src/a/b.ts', text, packages).map(({ to }) => to);

  test.for([
    ["import { x } from './x.ts';", 'libs/edge/src/a/x.ts'],
    ["import type { X } from '../x.ts';", 'libs/edge/src/x.ts'],
    ["import '../c/x.ts';", 'libs/edge/src/c/x.ts'],
    ["export { x } from '../c/x.ts';", 'libs/edge/src/c/x.ts'],
    ["export type * from '../c/x.ts';", 'libs/edge/src/c/x.ts'],
    ["const { x } = await import('../c/x.ts');", 'libs/edge/src/c/x.ts'],
    ["import { x } from '@keelson/errors/codes';", 'libs/errors'],
  ] as const)('%s', ([text, to]) => expect(readFrom(text)).toEqual([to]));

  test('other packages and the package itself are not edges of the graph', () =>
    expect(readFrom("import 'fastify'; import '@keelson/edge'; import 'node:fs';")).toEqual([]));
});

describe('a cycle is found', () => {
  test('between two folders, with the imports that make it', () =>
    expect(
      findCircles(
        imports(['s/src/a/1.ts', 's/src/b/2.ts'], ['s/src/b/3.ts', 's/src/a/domain/4.ts']),
      ),
    ).toEqual([
      [
        's/src: circle a → b → a',
        '    s/src/a/1.ts imports s/src/b/2.ts',
        '    s/src/b/3.ts imports s/src/a/domain/4.ts',
      ].join('\n'),
    ]));

  test('over a third folder', () =>
    expect(
      findCircles(
        imports(['s/a/1.ts', 's/b/1.ts'], ['s/b/1.ts', 's/c/1.ts'], ['s/c/1.ts', 's/a/2.ts']),
      )[0],
    ).toMatch('s: circle a → b → c → a'));

  test('between a folder and a file of the folder around it', () =>
    expect(findCircles(imports(['s/x.ts', 's/a/1.ts'], ['s/a/2.ts', 's/x.ts']))[0]).toMatch(
      's: circle x.ts → a → x.ts',
    ));

  test('between packages', () =>
    expect(
      findCircles(imports(['libs/a/src/1.ts', 'libs/b'], ['libs/b/src/1.ts', 'libs/a']))[0],
    ).toMatch('libs: circle a → b → a'));

  test('but not in a graph without one', () =>
    expect(
      findCircles(
        imports(['s/a/1.ts', 's/b/1.ts'], ['s/a/2.ts', 's/a/1.ts'], ['s/b/1.ts', 's/c.ts']),
      ),
    ).toEqual([]));
});

describe('the allowed graph', () => {
  const allowed = { 's/src': ['base', 'a b', 'c'] };

  test.for([
    ['s/src/b/1.ts', 's/src/base/1.ts'],
    ['s/src/c/1.ts', 's/src/base/1.ts'],
    ['s/src/compose.ts', 's/src/c/1.ts'],
    ['s/src/a/1.ts', 's/src/a/domain/1.ts'],
  ] as const)('lets %s import %s', (arrow) =>
    expect(findForbidden(imports(arrow), allowed)).toEqual([]),
  );

  test.for([
    [
      'a layer above',
      's/src/a/1.ts',
      's/src/c/1.ts',
      's/src: the allowed graph has no arrow a → c',
    ],
    [
      'its own layer',
      's/src/a/1.ts',
      's/src/b/1.ts',
      's/src: the allowed graph has no arrow a → b',
    ],
    [
      'an unknown folder',
      's/src/a/1.ts',
      's/src/d/1.ts',
      's/src: no layer of the allowed graph names d',
    ],
    [
      'a folder without layers',
      't/src/a/1.ts',
      't/src/b/1.ts',
      't/src: the allowed graph has no layers for it',
    ],
  ] as const)('refuses %s', ([, from, to, fault]) =>
    expect(findForbidden(imports([from, to]), allowed)[0]).toMatch(fault),
  );
});

test('the product may not import packages for tests; benches may', () =>
  expect(
    findOutsideImports(
      imports(['libs/a/src/1.ts', 'libs/testkit'], ['bench/src/1.ts', 'libs/testkit']),
      ['libs/testkit'],
    ),
  ).toEqual(['libs/a/src/1.ts is part of the product and imports libs/testkit']));
