/**
 * Checks every page of the console and every dialog that its buttons and menus open, on desktop and phone, light and
 * dark: accessibility with axe, and no horizontal overflow.
 */
import type { Page } from '@keelson/testkit/chromium';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { prepareEveryPage } from './every-page.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();

let pages: ReadonlyMap<string, string>;
beforeAll(async () => {
  pages = await prepareEveryPage(site);
}, PATIENCE_MS);

/** Whether the page has commands, one of which is curl, in its only panel of them. */
const hasCurl = async (page: Page): Promise<boolean> => {
  expect(await page.locator('main .commands').count()).toBe(0);
  const button = page.getByRole('main').getByRole('button', { name: 'Commands', exact: true });
  if (!(await button.isVisible())) return false;
  await button.click();
  const panel = page.getByRole('dialog', { name: 'Commands of this page' });
  await panel.waitFor();
  const tools = await panel.locator('.commands-tool').allTextContents();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  return tools.includes('curl');
};

describe('every page', { timeout: PATIENCE_MS * 2 }, () => {
  test('on a desktop and a telephone, light and dark, with every dialog that a button opens', async () => {
    const { page, problems } = await site.openSignedIn('/ui/');
    const buttons = page.locator('button[aria-haspopup="dialog"]:not([disabled])');
    const menus = page.locator('button[aria-haspopup="menu"]');
    const items = page.getByRole('menuitem');
    const dialog = page.getByRole('dialog');
    const seen = new Set<string>();
    // Rows of a list have the same buttons.
    const isNew = (label: string): boolean => !seen.has(label) && seen.add(label).has(label);
    const walkOpened = async (label: string): Promise<void> => {
      await dialog.waitFor();
      expect({ label, faults: await faultsInVariants(page) }).toEqual({ label, faults: {} });
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    };
    for (const [name, path] of pages) {
      await page.goto(site.origin() + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
      expect({ name, faults: await faultsInVariants(page, name) }).toEqual({ name, faults: {} });
      expect({ name, hasCurl: await hasCurl(page) }).toEqual({
        name,
        hasCurl: name !== 'no such page' && !path.startsWith('/docs/'),
      });
      const place = path.split('/').slice(0, 3).join('/');
      for (const button of await buttons.all()) {
        const label = `${place} ${await button.innerText()}`;
        if (!isNew(label)) continue;
        await button.click();
        await walkOpened(label);
      }
      for (const menu of await menus.all()) {
        await menu.click();
        await items.first().waitFor();
        const names = await items.allInnerTexts();
        await page.keyboard.press('Escape');
        for (const item of names) {
          const label = `${place} ${item} of a menu`;
          if (!isNew(label)) continue;
          await menu.click();
          await items.getByText(item, { exact: true }).click();
          await walkOpened(label);
        }
      }
    }
    expect([...seen].filter((label) => label.endsWith(' of a menu')).length).toBeGreaterThan(4);
    expect(seen.size).toBeGreaterThan(40);
    expect(problems).toEqual([]);
  });

  test('before login', async () => {
    const { page } = await site.open();
    await page.getByLabel('Token').waitFor();
    expect(await faultsInVariants(page, 'sign in')).toEqual({});
  });
});
