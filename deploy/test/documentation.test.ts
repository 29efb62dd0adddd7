/** Pages that lead somewhere. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

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

test('links lead to files of the repository', () => {
  const broken = pages.flatMap((page) =>
    linksOf(page)
      .filter((target) => !existsSync(join(REPOSITORY, target)))
      .map((target) => `${page}: ${target}`),
  );
  expect(broken).toEqual([]);
});
