/** The files, functions and commands that the recipes of CONTRIBUTING.md name exist. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');
const find = (pattern: string): string[] =>
  globSync(pattern, { cwd: REPOSITORY, exclude: (path) => path.includes('node_modules') });

const recipes = [
  ...read('CONTRIBUTING.md')
    .replace(/^[\s\S]*?\n## Recipes\n/, '')
    .replace(/\n## [\s\S]*$/, '')
    .matchAll(/^### (.+)\n([\s\S]*?)(?=^### |$(?![\s\S]))/gm),
].map(([, title = '', text = '']) => ({ title, text }));

const spansOf = (text: string): string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const projects = read('vitest.config.ts');
/** Without tests, so that a name counts only where it is declared or used for real. */
const sources = find('{services,libs,proto}/**/*.{ts,proto}')
  .filter((path) => !/\.test\.ts$|\/test\//.test(path))
  .map(read)
  .join('\n');

const isFile = (path: string): boolean => find(path.replaceAll(/<\w+>/g, '*')).length > 0;

const isExported = (name: string): boolean =>
  new RegExp(`^export (?:const|class|function|interface|type) ${name}\\b`, 'm').test(sources);

const isVitestCommand = (command: string): boolean => {
  const [, project = '', paths = ''] =
    /--project (\w+)((?: [\w/.-]+)*?)(?: -u)?$/.exec(command) ?? [];
  const named = paths.split(' ').filter((path) => path !== '');
  return projects.includes(`'${project}'`) && named.length > 0 && named.every(isFile);
};

/** How each kind of code span is looked up, the first that matches. */
const KINDS: readonly (readonly [RegExp, (span: string) => boolean])[] = [
  [/^npm run /, (span) => span.slice('npm run '.length) in scripts],
  [/^npx vitest run /, isVitestCommand],
  [
    /^@keelson\//,
    (span) => find('libs/*/package.json').some((at) => read(at).includes(`"${span}"`)),
  ],
  [/^throw new (\w+)\(/, (span) => isExported(span.replace(/^throw new (\w+)\(.*$/, '$1'))],
  [/^\w+(?:<.+>)?\(/, (span) => isExported(span.replace(/^(\w+).*$/, '$1'))],
  [/^(?:libs|services|docs|deploy)\//, isFile],
  [/^docker-compose\.yml$/, isFile],
  [/^[*\w-]*\.(?:ts|proto)$/, (span) => isFile(`{services,proto}/**/${span.replace(/^\./, '*.')}`)],
  [/^KEELSON_/, (span) => read('docs/configuration.md').includes(`\`${span}\``)],
  [/^[A-Z_]+$|^define|^stub/, isExported],
  // Words of the code: an option, the scope of a record, the end of a name.
  [/^[\w/-]+$|^…\w+$/, (span) => sources.includes(span.replace('…', ''))],
];

const exists = (span: string): boolean =>
  KINDS.find(([pattern]) => pattern.test(span))?.[1](span) ?? false;

test('there is a recipe for each kind of addition', () => {
  expect(recipes.map(({ title }) => title)).toEqual([
    'Add a route',
    'Add a kind of record',
    'Add an RPC',
    'Add an error code',
    'Add a setting',
  ]);
});

describe.for(recipes)('$title', ({ text }) => {
  test('names only what exists', () => {
    const spans = spansOf(text);
    expect(spans.length).toBeGreaterThan(3);
    expect(spans.filter((span) => !exists(span))).toEqual([]);
  });

  test('needs at most two files outside the capability', () => {
    const counted = [...text.matchAll(/\((\d)\)/g)].map(([, count]) => Number(count));
    expect(counted.length).toBeGreaterThan(0);
    expect(Math.max(...counted)).toBeLessThanOrEqual(2);
  });
});

test.for([
  ['`libs/errors/src/code/<area>.ts`', 'a path'],
  ['`*-rout.ts`', 'a file name'],
  ['`secretRoutes({ … })`', 'a function'],
  ['`npm run generated`', 'a script'],
  ['`npx vitest run --project units libs/errors -u`', 'a project of the tests'],
  ['`npx vitest run --project unit libs/error -u`', 'a folder of the tests'],
  ['`@keelson/testkits`', 'a package'],
  ['`KEELSON_HTTP_PORTS`', 'a setting'],
  ['`no such span`', 'anything else'],
] as const)('%s would be noticed: %s that does not exist', ([text]) => {
  expect(spansOf(text).filter(exists)).toEqual([]);
});
