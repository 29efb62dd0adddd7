/**
 * Every page while it loads: nothing that is already drawn moves, as the browser measures it. With PRINT_PAGE_LOADS=yes
 * the figure of every page is printed.
 */
import type { Page } from '@keelson/testkit/chromium';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { prepareEveryPage } from './every-page.ts';
import { watchRequests } from './settled.ts';

const site = useConsole();

/** The limit below which the web's own measure calls a page good is 0.1. */
const MAX_SHIFT = 0.05;

const VIEWPORTS = [
  ['desktop', { width: 1280, height: 800 }],
  ['telephone', { width: 360, height: 740 }],
] as const;

let pages: ReadonlyMap<string, string>;
beforeAll(async () => {
  pages = await prepareEveryPage(site);
  // A banner is there on every page.
  await site.secrets('sys/config/ui/custom-messages', {
    title: 'Maintenance on Sunday',
    message: Buffer.from('The site is away from ten to eleven.').toString('base64'),
    start_time: '2020-01-01T00:00:00Z',
  });
}, PATIENCE_MS);

interface Shift {
  readonly value: number;
  /** The elements that have moved. */
  readonly moved: readonly string[];
}

/** Records in the page what has moved since its navigation, other than after an input. */
const RECORD_SHIFTS = `
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput)
        globalThis.shifts.push({
          value,
          moved: sources.map(({ node, previousRect, currentRect }) =>
            [
              node?.nodeName,
              node?.className,
              node?.textContent?.slice(0, 30),
              [previousRect, currentRect].map(({ x, y, width, height }) => [x, y, width, height].map(Math.round)).join(' > '),
            ].join(' '),
          ),
        });
  }).observe({ type: 'layout-shift', buffered: true });
`;

const print = (line: string): void => {
  if (process.env['PRINT_PAGE_LOADS'] === 'yes') process.stdout.write(`${line}\n`);
};

/** The pages of the console itself: the reference is another application. */
const consolePages = (): readonly (readonly [name: string, path: string])[] =>
  [...pages].filter(([, path]) => !path.startsWith('/docs'));

const shiftsOf = (page: Page): Promise<readonly Shift[]> =>
  page.evaluate<readonly Shift[]>('globalThis.shifts');

describe('every page', { timeout: PATIENCE_MS * 2 }, () => {
  test.for(VIEWPORTS)(
    'moves nothing that is drawn while it loads, on a %s',
    async ([size, viewport]) => {
      const { page, problems } = await site.openSignedIn('/ui/no-such-page');
      await page.setViewportSize(viewport);
      await page.addInitScript({ content: RECORD_SHIFTS });
      const settled = watchRequests(page);
      const moving: object[] = [];
      for (const [name, path] of consolePages()) {
        await page.goto(site.origin() + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await settled();
        const shifts = await shiftsOf(page);
        const sum = shifts.reduce((total, { value }) => total + value, 0);
        print(`${size} ${sum.toFixed(3)} ${name}`);
        if (sum > MAX_SHIFT) moving.push({ name, sum, shifts });
      }
      expect(moving).toEqual([]);
      expect(problems).toEqual([]);
    },
  );
});
