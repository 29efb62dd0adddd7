import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findBinary } from './find-binary.ts';

export type { Browser, Page } from 'playwright-core';

/** What is waited for in a page comes when a busy machine gets to it. */
const PATIENCE_MS = 120_000;

/** The machine's Chromium; without its process for the graphics card, which machines of tests lack. */
export const launchChromium = async (): Promise<Browser> =>
  chromium.launch({
    executablePath: await findBinary('chromium', 'chromium'),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });

export interface WatchedPage {
  readonly page: Page;
  /** What went wrong in it: errors it throws or logs, files that were not loaded, its own end. */
  readonly problems: readonly string[];
}

/** A page of a browser profile of its own, at `url`; its context is for the caller to close. */
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
    // The page itself gave it up, to go elsewhere.
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
