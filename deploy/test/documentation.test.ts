/** Links and numbers of decisions lead to files that exist, and the index of decisions is complete. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

const pages = globSync('**/*.md', {
  cwd: REPOSITORY,
  exclude: (path) => /(^|\/)(node_modules|data|\.\w+)(\/|$)/.test(path),
});

/** Paths from the root that a page links to; addresses elsewhere and anchors left out. */
const linksOf = (page: string): string[] => {
  const text = readFileSync(join(REPOSITORY, page), 'utf8').replaceAll(
    /```[\s\S]*?```|`[^`\n]*`/g,
    '',
  );
  return [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => normalize(join(dirname(page), target)));
};

/** "decision 0007", "decisions 0007 and 0010", "docs/decisions/0007-….md". */
const REFERENCE = /\bdecisions?[/ ]\d{4}(?:(?:, | and )\d{4})*/gi;

test('links lead to files of the repository', () => {
  const broken = pages.flatMap((page) =>
    linksOf(page)
      .filter((target) => !existsSync(join(REPOSITORY, target)))
      .map((target) => `${page}: ${target}`),
  );
  expect(broken).toEqual([]);
});

/** Tests are named with or without their suffix: `libs/replication/test/kill`. */
const TEST_SUFFIXES = ['', '.test.ts', '.integration.test.ts', '.property.test.ts'];

test('files named in the guarantees exist', () => {
  const text = readFileSync(join(REPOSITORY, 'docs/guarantees.md'), 'utf8');
  const named = [...text.matchAll(/`((?:bench|conformance|deploy|libs|services)\/[^` ]+)`/g)];
  const missing = named
    .map(([, path = '']) => path)
    .filter((path) =>
      TEST_SUFFIXES.every((suffix) => globSync(path + suffix, { cwd: REPOSITORY }).length === 0),
    );
  expect(named.length).toBeGreaterThan(50);
  expect(missing).toEqual([]);
});

/** Tests by what comes before their suffixes: `compose-network`, or a path. */
const TESTS = globSync('{bench,conformance,deploy,libs,services}/**/*.test.ts', {
  cwd: REPOSITORY,
  exclude: (path) => path.includes('node_modules'),
});

test.for(['docs/guarantees.md', 'deploy/agent/README.md', 'services/runner/README.md'])(
  'each row of a table of %s that promises something names tests, which exist',
  (page) => {
    const lines = readFileSync(join(REPOSITORY, page), 'utf8').split('\n');
    const rows: string[] = [];
    let isPromise = false;
    for (const line of lines) {
      if (/^\|.*\| (?:test|tested by) +\|$/.test(line)) isPromise = true;
      else if (!line.startsWith('|')) isPromise = false;
      else if (isPromise && !line.startsWith('| -')) rows.push(line);
    }
    const isTest = (name: string): boolean =>
      TESTS.some((path) => `/${path}`.includes(`/${name}.`) || path === name) ||
      existsSync(join(REPOSITORY, name));
    const wrong = rows.filter((row) => {
      const names = [...(row.split(' | ').at(-1) ?? '').matchAll(/`([^`]+)`/g)];
      return names.length === 0 || !names.every(([, name = '']) => isTest(name));
    });
    expect(rows.length).toBeGreaterThan(5);
    expect(wrong).toEqual([]);
  },
);

test('pages of the security promises exist', () => {
  const text = readFileSync(join(REPOSITORY, 'SECURITY.md'), 'utf8');
  const named = [...text.matchAll(/`([^` ]+\.md)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((path) => !existsSync(join(REPOSITORY, path)))).toEqual([]);
});

test('tests named in the advisories exist', () => {
  const text = readFileSync(join(REPOSITORY, 'docs/advisories.md'), 'utf8');
  const rows = [...text.matchAll(/^\|[^|]+\|[^|]+\| `([^`]+)`: ([^|]+?) +\|/gm)];
  expect(rows.length).toBe(text.split('\n').filter((line) => line.startsWith('|')).length - 2);
  expect(rows.length).toBeGreaterThan(10);
  const missing = rows.filter(
    ([, file = '', title = '']) =>
      !existsSync(join(REPOSITORY, file)) ||
      !readFileSync(join(REPOSITORY, file), 'utf8').includes(`'${title}'`),
  );
  expect(missing.map(([, file, title]) => `${file}: ${title}`)).toEqual([]);
});

describe('decisions', () => {
  const folder = join(REPOSITORY, 'docs/decisions');
  const decisions = globSync('0*.md', { cwd: folder }).sort();
  const numbers = decisions.map((file) => file.slice(0, 4));

  test('are at most 25, numbered without gaps', () => {
    expect(numbers).toEqual(decisions.map((_, index) => String(index + 1).padStart(4, '0')));
    expect(decisions.length).toBeLessThanOrEqual(25);
  });

  test('are all in the index, under the title of their page', () => {
    const listed = [
      ...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(
        /\[(\d{4})\]\((.+?)\) (.+?) +\|/g,
      ),
    ].map(([, number = '', file = '', title = '']) => ({ file, heading: `# ${number} ${title}` }));
    const pagesOfFolder = decisions.map((file) => ({
      file,
      heading: readFileSync(join(folder, file), 'utf8').split('\n', 1)[0],
    }));
    expect(listed.sort((a, b) => a.file.localeCompare(b.file))).toEqual(pagesOfFolder);
  });

  test('referred to in code and pages exist', () => {
    const texts = globSync('{**/*.{md,ts,js,mjs,proto,yaml,yml,sh},**/Dockerfile,Makefile}', {
      cwd: REPOSITORY,
      exclude: (path) => /(^|\/)(node_modules|data|\.\w+)(\/|$)/.test(path),
    });
    const unknown = texts.flatMap((file) =>
      [...readFileSync(join(REPOSITORY, file), 'utf8').matchAll(REFERENCE)]
        .flatMap(([reference]) => reference.match(/\d{4}/g) ?? [])
        .filter((number) => !numbers.includes(number))
        .map((number) => `${file}: ${number}`),
    );
    expect(unknown).toEqual([]);
  });
});
