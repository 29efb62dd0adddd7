/**
 * The reference at `/docs` in a browser.
 *
 * | address           | shows                                                               |
 * | ----------------- | ------------------------------------------------------------------- |
 * | `/docs`           | leads to `/docs/workspace`                                          |
 * | `/docs/<api>`     | the capabilities and operations of one API, links to the other APIs |
 * | …`#tag--<name>`   | a capability: its operations                                        |
 * | …`#get-<path>`    | an operation                                                        |
 * | `/docs/<other>`   | 404                                                                 |
 *
 * Everything comes from the gateway: the content security policy allows nothing else, and a refusal of it
 * would be among the problems of the page.
 */
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { type Browser, launchChromium, openPage } from '@keelson/testkit/chromium';
import { afterAll, beforeAll, expect, test } from 'vitest';

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
let browser: Browser;

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({ dataFolder: join(folder.path, 'data') });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
});

test.for([
  ['/docs', 'Workspaces', 'Organizations, projects, teams'],
  ['/docs/pki', 'Certificate authority', 'Issuers, keys, roles'],
  ['/docs/sys', 'Administration', 'Seal, tokens, policies'],
] as const)('%s shows its API with nothing from elsewhere', async ([path, name, text]) => {
  const { page, problems } = await openPage(browser, keelson.http + path);
  await page.getByText(text).first().waitFor();
  expect(await page.locator('nav a[aria-current=page]').textContent()).toBe(name);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('an operation is found by searching, and has a page of its own', async () => {
  const { page, problems } = await openPage(browser, `${keelson.http}/docs/pki`);
  await page.getByText('Issuers, keys, roles').first().waitFor();
  const search = page.locator('#nav-bar-search');
  await search.fill('revoke-with-key');
  await search.press('Enter');
  await page.locator('.nav-bar-path', { hasText: 'issue/' }).first().waitFor({ state: 'detached' });
  await page.locator('.nav-bar-path', { hasText: 'revoke-with-key' }).click();
  await page.getByText('/{mount}/revoke-with-key').last().waitFor();
  expect(page.url()).toContain('revoke-with-key');
  // The example of the answer.
  await page.getByText('revocation_time_rfc3339').first().waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a capability has a page with its operations, each of which leads to its own', async () => {
  const { page, problems } = await openPage(browser, `${keelson.http}/docs/pki`);
  await page.locator('.nav-bar-tag', { hasText: /^\s*roles/i }).click();
  await page.waitForURL((url) => url.hash === '#tag--roles');
  const listed = page.locator('.m-markdown li');
  await listed.getByText('Create a role or replace it').waitFor();
  await listed.getByRole('link', { name: 'PATCH /{mount}/roles/{name}' }).click();
  await page.getByRole('heading', { name: 'Change given parameters of a role' }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('on a telephone, it is one page with links to the other APIs', async () => {
  const context = await browser.newContext({ viewport: { width: 360, height: 740 } });
  const page = await context.newPage();
  await page.goto(`${keelson.http}/docs/pki`);
  await page.locator('.endpoint-head', { hasText: /PATCH\s*\/{mount}\/roles\/{name}/i }).click();
  await page.getByText('Change given parameters of a role').last().waitFor();
  const overhang = 'document.documentElement.scrollWidth - innerWidth';
  expect(await page.evaluate<number>(overhang)).toBe(0);
  await page.getByRole('link', { name: 'Administration' }).click();
  await page.getByText('Seal, tokens, policies').first().waitFor();
  await context.close();
});

test('an API that does not exist has no reference', async () => {
  expect((await fetch(`${keelson.http}/docs/other`)).status).toBe(404);
});
