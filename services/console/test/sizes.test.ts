/** The compressed size of the built console: of its first load, and of each page opened first. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const MAX_FIRST_LOAD_BYTES = 200_000;
const MAX_PAGE_BYTES = 300_000;
const DIST = join(import.meta.dirname, '..', 'dist');
const index = readFileSync(join(DIST, 'index.html'), 'utf8');
const scripts = [...index.matchAll(/<script type="module"[^>]* src="\/ui\/assets\/([^"]+)"/g)].map(
  ([, file]) => file ?? '',
);

const sourceOf = (file: string): string => readFileSync(join(DIST, 'assets', file), 'utf8');

/** The file and everything that it imports before it runs. */
const withImports = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, imported = ''] of sourceOf(file).matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g))
    withImports(imported, seen);
  return seen;
};

const compressedBytes = (file: string): number => {
  const path = join(DIST, 'assets', file);
  return statSync(existsSync(`${path}.br`) ? `${path}.br` : path).size;
};

const total = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + compressedBytes(file), 0);

const styles = [...index.matchAll(/href="\/ui\/assets\/([^"]+\.css)"/g)].map(
  ([, file]) => file ?? '',
);
const typeface = readdirSync(join(DIST, 'assets')).filter((file) => file.endsWith('.woff2'));
const first = new Set(scripts.flatMap((file) => [...withImports(file)]));
const frame = new Set([...first, ...styles, ...typeface]);
const routes = readdirSync(join(DIST, 'assets')).filter((file) =>
  /-(?:page|tab)-[\w-]+\.js$/.test(file),
);
const signedIn = readdirSync(join(DIST, 'assets')).filter((file) =>
  /^signed-in-frame-[\w-]+\.js$/.test(file),
);
const authority = routes.filter((file) => file.startsWith('authority-page-'));

/** All that is loaded when the page, or this tab of an authority, is opened first. */
const filesOf = (route: string): ReadonlySet<string> =>
  new Set([
    ...frame,
    ...[route, ...signedIn, ...(route.includes('-tab-') ? authority : [])].flatMap((file) => [
      ...withImports(file),
    ]),
  ]);

test('the first load is small, and built for production', () => {
  const texts = [...first].map(sourceOf);
  expect(texts.some((text) => text.includes('Minified React error'))).toBe(true);
  expect(total(frame)).toBeGreaterThan(50_000);
  expect(total(frame)).toBeLessThanOrEqual(MAX_FIRST_LOAD_BYTES);
  expect(typeface).toHaveLength(1);
});

test('all that runs before anything is shown is in few files', () => {
  // The page, what it shares with the reference, and the runtime of the bundler.
  expect(first.size).toBeLessThanOrEqual(3);
});

test('every page is small, even when it is opened first', () => {
  expect(signedIn).toHaveLength(1);
  expect(routes.length).toBeGreaterThan(20);
  const sizes = routes.map((route) => [route, total(filesOf(route))] as const);
  if (process.env['KEELSON_PRINT_SIZES'] !== undefined)
    process.stdout.write(
      [['frame', total(frame)], ...sizes].map(([route, bytes]) => `${route} ${bytes}\n`).join(''),
    );
  expect(sizes.filter(([, bytes]) => bytes > MAX_PAGE_BYTES)).toEqual([]);
});
