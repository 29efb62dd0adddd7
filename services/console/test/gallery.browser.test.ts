/** The look of the parts of the console: the gallery in both themes and three widths, compared with stored pictures. */
import { join } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';
import { launchChromium, openPage } from '@keelson/testkit/chromium';
import { build, type Plugin, preview } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS } from './console-harness.ts';
import { LOOKS, type Theme } from './looks.ts';
import { faultsInVariants } from './page-faults.ts';
import { differenceOf } from './stored-pictures.ts';

const CONSOLE = join(import.meta.dirname, '..');

const VARIANTS = LOOKS.map(({ width, theme }) => [width, theme] as const);

const stack = new AsyncDisposableStack();
let browser: Awaited<ReturnType<typeof launchChromium>>;
let address: string;
beforeAll(async () => {
  const { path: outDir } = stack.use(await temporaryDirectory());
  const configFile = join(CONSOLE, 'vite.config.ts');
  const input = join(CONSOLE, 'src', 'browser', 'gallery.html');
  // In place of the pages of an installation, with which it would share files of styles.
  const alone: Plugin = { name: 'gallery', options: (options) => ({ ...options, input }) };
  await build({ configFile, build: { outDir }, plugins: [alone] });
  const server = await preview({ configFile, build: { outDir }, preview: { port: 0 } });
  stack.defer(() => server.close());
  address = `${server.resolvedUrls?.local[0]}gallery.html`;
  browser = await launchChromium();
  stack.defer(() => browser.close());
}, PATIENCE_MS);
afterAll(() => stack.disposeAsync());

const openGallery = async (width: number, colorScheme: Theme) => {
  const opened = await openPage(browser, address, {
    colorScheme,
    reducedMotion: 'reduce',
    viewport: { width, height: 800 },
  });
  expect(opened.problems).toEqual([]);
  await opened.page.getByRole('heading', { name: 'Gallery' }).waitFor();
  await opened.page.evaluate('document.fonts.ready');
  return opened;
};

describe('gallery', { timeout: PATIENCE_MS }, () => {
  test.for(VARIANTS)('looks as its picture, %i pixels wide and %s', async ([width, theme]) => {
    const { page, problems } = await openGallery(width, theme);
    const taken = await page.screenshot({ fullPage: true, animations: 'disabled' });
    await page.context().close();
    expect(problems).toEqual([]);
    expect(await differenceOf(`gallery-${width}-${theme}`, taken)).toBe(undefined);
  });

  test('is accessible, and its dialog is', async () => {
    const { page } = await openGallery(1280, 'light');
    expect(await faultsInVariants(page, 'gallery')).toEqual({});
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await faultsInVariants(page)).toEqual({});
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Commands', exact: true }).click();
    await page.getByRole('dialog', { name: 'Commands of this page' }).waitFor();
    expect(await faultsInVariants(page)).toEqual({});
    await page.context().close();
  });
});
