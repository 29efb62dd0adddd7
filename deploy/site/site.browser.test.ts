/** The site of the documentation as `make site` builds it: links, anchors, search, and no other origin. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { launchChromium, openPage } from '@keelson/testkit/chromium';
import { beforeAll, expect, test } from 'vitest';
import { linkTo, PAGES, REPOSITORY, toSidebar } from './src/contents.ts';

const SITE = join(import.meta.dirname, 'dist');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};
const pages = new Map<string, string>();

beforeAll(() => {
  execFileSync('make', ['--silent', 'site'], { cwd: REPOSITORY, stdio: 'pipe' });
  for (const file of globSync('**/*.html', { cwd: SITE }))
    pages.set(file, readFileSync(join(SITE, file), 'utf8'));
}, 300_000);

const fileOf = (address: string): string =>
  address.endsWith('/') ? `${address.slice(1)}index.html` : address.slice(1);

test('has every page of the repository, and each under one heading of its contents', () => {
  const missing = PAGES.map((page) => `${linkTo(page)}${linkTo(page).endsWith('/') ? '' : '.html'}`)
    .map(fileOf)
    .filter((file) => !pages.has(file));
  expect(missing).toEqual([]);
  const links = JSON.stringify(toSidebar()).match(/(?<="link":")[^"]+/g) ?? [];
  expect(links.toSorted()).toEqual(PAGES.map(linkTo).toSorted());
  expect(toSidebar().map(({ text }) => text)).toEqual([
    'All questions',
    'Tutorials',
    'How-to guides',
    'Reference',
    'Explanation',
    'Develop',
  ]);
});

test('links lead to pages and headings that exist', () => {
  const broken: string[] = [];
  for (const [file, html] of pages)
    for (const [, target = ''] of html.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path = '', anchor] = decodeURI(target).split('#');
      const page = path === '' ? html : pages.get(fileOf(path));
      const hasAnchor = !anchor || page?.includes(`id="${anchor}"`) === true;
      if (page === undefined || !hasAnchor) broken.push(`${file}: ${target}`);
    }
  expect(pages.size).toBeGreaterThan(80);
  expect(broken).toEqual([]);
});

test('a reader finds a page by the search, and no other server is asked for anything', async () => {
  const server = createServer((request, response) => {
    const file = fileOf(decodeURI(request.url ?? '/').split('?')[0] ?? '/');
    const path = join(SITE, file);
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
    response.writeHead(existsSync(path) ? 200 : 404).end(existsSync(path) && readFileSync(path));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = await launchChromium();
  try {
    const { page, problems } = await openPage(browser, `${origin}/docs/`);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).origin));
    await page.reload();
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.getByRole('searchbox').fill('delta rebuild interval');
    await page.getByRole('option').filter({ hasText: 'CRL and OCSP' }).first().click();
    await page.waitForURL(/certificate-authority\.html/);
    await page.getByRole('heading', { name: 'CRL and OCSP' }).waitFor();
    expect(new Set(asked)).toEqual(new Set([origin]));
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
});
