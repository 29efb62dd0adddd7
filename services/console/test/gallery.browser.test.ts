/**
 * The look of the parts of the console: the gallery in both themes and three widths, compared with stored pictures.
 * `vitest -u` stores them again after a change that is wanted; look at them first.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';
import { launchChromium, openPage } from '@keelson/testkit/chromium';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { build, type Plugin, preview } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS } from './console-harness.ts';
import { faultsInVariants, PICTURES } from './page-faults.ts';

const CONSOLE = join(import.meta.dirname, '..');
const STORED = join(import.meta.dirname, 'pictures');
/** Part of the pixels that may differ, as edges of letters do between versions of Chromium. */
const ALLOWED_PART = 0.0001;

const WIDTHS = [1280, 768, 360] as const;
const THEMES = ['light', 'dark'] as const;

const VARIANTS = WIDTHS.flatMap((width) => THEMES.map((theme) => [width, theme] as const));

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

const openGallery = async (width: number, colorScheme: (typeof THEMES)[number]) => {
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

const isUpdate = (): boolean => expect.getState().snapshotState['_updateSnapshot'] === 'all';

describe('gallery', { timeout: PATIENCE_MS }, () => {
  test.for(VARIANTS)('looks as its picture, %i pixels wide and %s', async ([width, theme]) => {
    const { page, problems } = await openGallery(width, theme);
    const name = `gallery-${width}-${theme}.png`;
    const taken = await page.screenshot({ fullPage: true, animations: 'disabled' });
    await page.context().close();
    expect(problems).toEqual([]);
    if (isUpdate()) await writeFile(join(STORED, name), taken);
    const [now, stored] = [taken, await readFile(join(STORED, name))].map((file) =>
      PNG.sync.read(file),
    ) as unknown as readonly [PNG, PNG];
    await mkdir(PICTURES, { recursive: true });
    await writeFile(join(PICTURES, name), taken);
    expect([now.width, now.height]).toEqual([stored.width, stored.height]);
    const different = pixelmatch(now.data, stored.data, undefined, now.width, now.height, {
      threshold: 0.1,
    });
    expect(different / (now.width * now.height)).toBeLessThanOrEqual(ALLOWED_PART);
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
