import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findBinary } from './find-binary.ts';

export type { Browser, Page } from 'playwright-core';

/** Time limit of waiting for a page, generous because the machine may be busy. */
const PATIENCE_MS = 120_000;

/**
 * Launches the installed Chromium without its window, which takes a third of the CPU, and without its GPU process,
 * because test machines have no graphics card.
 */
export const launchChromium = async (): Promise<Browser> =>
  chromium.launch({
    executablePath: await findBinary('chromium-headless-shell', 'chromium-headless-shell'),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });

export interface WatchedPage {
  readonly page: Page;
  /** Problems of the page: errors it throws or logs, files that failed to load, a crash. */
  readonly problems: readonly string[];
}

/** Opens a page at `url` in a separate browser context, which the caller closes. */
export const openPage = async (
  browser: Browser,
  url: string,
  options?: BrowserContextOptions,
): Promise<WatchedPage> => {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('crash', () => problems.push('the page crashed'));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // The page cancelled the request because it navigates elsewhere.
    if (reason !== 'net::ERR_ABORTED') problems.push(`${request.url()}: ${reason}`);
  });
  page.on('response', (response) => {
    const isFile = response.request().resourceType() !== 'fetch';
    if (isFile && response.status() >= 400)
      problems.push(`${response.url()}: ${response.status()}`);
  });
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('status of 4'))
      problems.push(message.text());
  });
  await page.goto(url);
  return { page, problems };
};
