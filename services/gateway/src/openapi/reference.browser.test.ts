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
  expect(
    await page
      .getByRole('navigation', { name: 'APIs' })
      .locator('[aria-current=page]')
      .textContent(),
  ).toBe(name);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('an operation is found by searching, and has a view of its own', async () => {
  const { page, problems } = await openPage(browser, `${keelson.http}/docs/pki`);
  await page.getByLabel('Search operations').fill('possession revoke');
  await page.getByText(/^1 of \d+ operations contain these words/).waitFor();
  await page.getByRole('link', { name: /POST, PUT.*revoke-with-key/ }).click();
  const title = 'Revoke a certificate by proof of possession of its key';
  await page.getByRole('heading', { name: title }).waitFor();
  expect(page.url()).toContain('#post-/-mount-/revoke-with-key');
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe(title);
  expect(await page.title()).toBe(`${title} · Keelson`);
  await page.getByRole('row', { name: /^serial_number/ }).waitFor();
  await page.getByRole('heading', { name: 'Status 200' }).waitFor();
  // The example of the answer.
  await page.locator('pre', { hasText: 'revocation_time_rfc3339' }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('what an operation takes and answers is listed with types and limits', async () => {
  const anchor = 'post-/organizations/-organization_name-/workspaces';
  const { page, problems } = await openPage(browser, `${keelson.http}/docs/workspace#${anchor}`);
  await page.getByRole('heading', { name: 'Create a workspace' }).waitFor();
  const mode = page.getByRole('row', { name: /^data\.attributes\.execution-mode/ }).first();
  expect(await mode.textContent()).toContain('"remote" or "local" or "agent" or null');
  const path = page.getByRole('row', { name: /^organization_name required/ });
  expect(await path.textContent()).toContain('string, in the path');
  await page.getByRole('heading', { name: 'Status 201' }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a capability has a view with its operations, each of which leads to its own', async () => {
  const { page, problems } = await openPage(browser, `${keelson.http}/docs/pki`);
  const contents = page.getByRole('navigation', { name: 'Operations' });
  await contents.getByRole('link', { name: 'roles', exact: true }).click();
  await page.waitForURL((url) => url.hash === '#tag--roles');
  const main = page.locator('main');
  await main.getByRole('link', { name: 'PATCH /{mount}/roles/{name}' }).click();
  await page.getByRole('heading', { name: 'Change given parameters of a role' }).waitFor();
  await page.goBack();
  await main.getByRole('heading', { name: 'roles' }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('on a telephone, it is one column with links to the other APIs', async () => {
  const context = await browser.newContext({ viewport: { width: 360, height: 740 } });
  const page = await context.newPage();
  await page.goto(`${keelson.http}/docs/pki`);
  await page.locator('main').getByRole('link', { name: 'roles', exact: true }).click();
  await page.getByRole('link', { name: 'PATCH /{mount}/roles/{name}' }).last().click();
  await page.getByRole('heading', { name: 'Change given parameters of a role' }).waitFor();
  const overhang = 'document.documentElement.scrollWidth - innerWidth';
  expect(await page.evaluate<number>(overhang)).toBeLessThanOrEqual(0);
  await page.getByRole('link', { name: 'Administration' }).click();
  await page.getByText('Seal, tokens, policies').first().waitFor();
  await context.close();
});

test('an API that does not exist has no reference', async () => {
  expect((await fetch(`${keelson.http}/docs/other`)).status).toBe(404);
});
