/** Waiting until a page has read all that it shows, for tests of what is absent. */
import type { Page } from '@keelson/testkit/chromium';

/**
 * Watches the requests of a page.
 * @returns waits until none is open, apart from the live channel's, and the page has been drawn
 */
export const watchRequests = (page: Page): (() => Promise<void>) => {
  const open = new Set<unknown>();
  let notify: () => void = () => undefined;
  page.on('request', (request) => {
    // Requests of the previous page may never be reported as finished.
    if (request.isNavigationRequest()) open.clear();
    if (new URL(request.url()).pathname !== '/live') open.add(request);
  });
  for (const event of ['requestfinished', 'requestfailed'] as const) {
    page.on(event as 'requestfinished', (request) => {
      open.delete(request);
      notify();
    });
  }
  return async () => {
    do {
      while (open.size > 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        notify = resolve;
        await promise;
      }
      // An answer may be drawn in the next frame, and drawing may start further requests.
      await page.evaluate(
        'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))))',
      );
    } while (open.size > 0);
  };
};
