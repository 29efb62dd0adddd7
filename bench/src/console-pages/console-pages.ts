/** The pages of the console in Chromium: the first load, a long list of workspaces, and a long log. */

import { startKeelson, temporaryDirectory } from '@keelson/testkit';
import { storeSession } from '@keelson/testkit/browser-session';
import { type Browser, launchChromium, openPage, type Page } from '@keelson/testkit/chromium';
import { addPlannedRun } from '@keelson/testkit/planned-run';
import type { Bench, BenchContext, Figure } from '../bench.ts';
import { median } from '../median.ts';

const CONCURRENCY = 16;
const PIECE_LINES = 1_000;
const MAX_FIRST_LOAD = { name: 'at most', value: 200 };
/** How much slower the processor of a telephone is than that of a desk, as the browser's own tools assume. */
const SLOW_PROCESSOR = 4;
const MAX_INTERACTIVE = { name: 'at most', value: 1_000 };

interface Site {
  readonly browser: Browser;
  readonly http: string;
  readonly apiToken: string;
  readonly say: BenchContext['say'];
}

const call =
  ({ http, apiToken }: Pick<Site, 'http' | 'apiToken'>) =>
  async (method: string, path: string, body?: object, token = apiToken) => {
    const answer = await fetch(`${http}/api/v2/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/vnd.api+json',
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  };

/** Milliseconds from the beginning of the navigation, by the page's own clock. */
const sinceNavigation = (page: Page): Promise<number> => page.evaluate<number>('performance.now()');

/** Milliseconds that an action takes until its effect is on the page. */
const timed = async (act: () => Promise<unknown>, effect: () => Promise<unknown>) => {
  const startedMs = performance.now();
  await act();
  await effect();
  return performance.now() - startedMs;
};

const openSignedIn = async (site: Site, path: string): Promise<Page> => {
  const { page } = await openPage(site.browser, `${site.http}/ui/`);
  const tokens = { workspaces: site.apiToken };
  await page.evaluate(await storeSession(page.context(), site.http, tokens));
  await page.goto(site.http + path);
  return page;
};

/** The sign-in page with an empty cache, until its field takes input; medians. @param rate how much slower the processor is */
const firstLoad = async (
  { browser, http }: Site,
  rounds: number,
  rate: number,
): Promise<{ readonly ms: number; readonly bytes: number }> => {
  const loads: { readonly ms: number; readonly bytes: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { page } = await openPage(browser, 'about:blank');
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Emulation.setCPUThrottlingRate', { rate });
    await page.goto(`${http}/ui/`, { waitUntil: 'commit' });
    await page.locator('input[name=token]:focus').waitFor();
    const ms = await sinceNavigation(page);
    const bytes = await page.evaluate<number>(
      `performance.getEntries().filter(({ name }) => !name.includes('/v1/'))
        .reduce((sum, { encodedBodySize = 0 }) => sum + encodedBodySize, 0)`,
    );
    loads.push({ ms, bytes });
    await page.context().close();
  }
  return {
    ms: median(loads.map(({ ms }) => ms)),
    bytes: median(loads.map(({ bytes }) => bytes)),
  };
};

const measureFirstLoad = async (site: Site, rounds: number): Promise<readonly Figure[]> => {
  const plain = await firstLoad(site, rounds, 1);
  const slowed = await firstLoad(site, rounds, SLOW_PROCESSOR);
  const input = 'first load until the sign-in form takes input';
  return [
    {
      name: 'first load, compressed',
      value: plain.bytes / 1000,
      unit: 'kB',
      limit: MAX_FIRST_LOAD,
    },
    { name: input, value: plain.ms, unit: 'ms', limit: MAX_INTERACTIVE },
    {
      name: `${input}, with a processor ${SLOW_PROCESSOR} times slower`,
      value: slowed.ms,
      unit: 'ms',
      limit: MAX_INTERACTIVE,
    },
  ];
};

const addWorkspaces = async (site: Site, count: number): Promise<void> => {
  const send = call(site);
  await send('POST', 'organizations', {
    data: { type: 'organizations', attributes: { name: 'many', email: 'a@b.example' } },
  });
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) {
      const name = `app-${String(at).padStart(6, '0')}`;
      await send('POST', 'organizations/many/workspaces', {
        data: { type: 'workspaces', attributes: { name } },
      });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
};

const measureList = async (site: Site, count: number): Promise<readonly Figure[]> => {
  site.say(`${count} workspaces are created`);
  await addWorkspaces(site, count);
  site.say('the list');
  const page = await openSignedIn(site, '/app/many/workspaces');
  const named = (at: number) =>
    page.getByRole('link', { name: `app-${String(at).padStart(6, '0')}`, exact: true }).waitFor();
  await named(0);
  const loaded = await sinceNavigation(page);
  const following = await timed(
    () => page.getByRole('button', { name: 'Next' }).click(),
    () => named(50),
  );
  const lastPage = Math.ceil(count / 50);
  await page.goto(`${site.http}/app/many/workspaces?page=${lastPage}`);
  await named(count - 1);
  const last = await sinceNavigation(page);
  const found = await timed(
    async () => {
      await page
        .getByRole('searchbox', { name: 'Name' })
        .fill(`app-${String(77).padStart(6, '0')}`);
      await page.keyboard.press('Enter');
    },
    () => named(77),
  );
  const frame = await longestFrame(page, 'document.scrollingElement');
  await page.context().close();
  const ms = (name: string, value: number): Figure => ({ name, value, unit: 'ms' });
  return [
    ms(`list of ${count} workspaces: page opened`, loaded),
    ms('next page', following),
    ms('last page, by its address', last),
    ms('search by name', found),
    ms('longest frame while scrolling a page of it', frame),
  ];
};

/** The longest time between two frames while an element is scrolled from its end to its beginning. */
const longestFrame = (page: Page, element: string): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    const box = ${element};
    const step = Math.max(50, box.scrollHeight / 60);
    let [last, longest] = [performance.now(), 0];
    const scroll = (now) => {
      longest = Math.max(longest, now - last);
      last = now;
      if (box.scrollTop <= 0) return resolve(longest);
      box.scrollTop -= step;
      requestAnimationFrame(scroll);
    };
    box.scrollTop = box.scrollHeight;
    requestAnimationFrame((now) => { last = now; requestAnimationFrame(scroll); });
  })`);

/** Begins to measure the longest time between two frames. @returns ends it with the time */
const watchFrames = async (page: Page): Promise<() => Promise<number>> => {
  await page.evaluate(`{
    let last = performance.now();
    globalThis.longestFrame = 0;
    const tick = (now) => {
      globalThis.longestFrame = Math.max(globalThis.longestFrame, now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }`);
  return () => page.evaluate<number>('globalThis.longestFrame');
};

/** A log of so many lines, opened until its last line is shown. @param line text of one */
const openLog = async (
  site: Site,
  workspace: string,
  lines: number,
  line: (at: number) => string,
) => {
  site.say(`a log of ${lines} lines`);
  const run = await addPlannedRun({ origin: () => site.http, workspaces: call(site) }, workspace);
  await call(site)('POST', `runs/${run.runId}/actions/apply`, {});
  await run.claim();
  const write = async (from: number): Promise<void> => {
    for (let at = from; at < from + lines; at += PIECE_LINES)
      await run.log(Array.from({ length: PIECE_LINES }, (_, more) => line(at + more)).join(''));
  };
  await write(0);
  const page = await openSignedIn(site, `/app/acme/${workspace}/runs/${run.runId}`);
  const log = page.getByRole('region', { name: 'Log of the apply' });
  // A search of the whole log would take longer than the log does.
  const shown = (at: number) =>
    log.locator('pre:last-of-type', { hasText: `one[${at}]` }).waitFor();
  await shown(lines - 1);
  return { run, page, shown, write, whole: await sinceNavigation(page) };
};

const measureLongLog = async (site: Site, lines: number): Promise<readonly Figure[]> => {
  const { page, whole } = await openLog(site, 'long', lines, (at) => `machine.one[${at}]: ok\n`);
  await page.context().close();
  return [
    {
      name: `log of ${lines} short lines: opened, until its end is shown`,
      value: whole,
      unit: 'ms',
    },
  ];
};

const measureLog = async (site: Site, lines: number): Promise<readonly Figure[]> => {
  const line = (at: number): string =>
    `machine.one[${at}]: Still creating… [id=${at}, ${at % 60} s elapsed]\n`;
  const { run, page, shown, write, whole } = await openLog(site, 'logged', lines, line);
  const framesFollowed = await watchFrames(page);
  await write(lines);
  const followed = await timed(
    () => Promise.resolve(),
    () => shown(2 * lines - 1),
  );
  const frameFollowed = await framesFollowed();
  const appended: number[] = [];
  for (let at = 2 * lines; at < 2 * lines + 10; at += 1)
    appended.push(
      await timed(
        () => run.log(line(at)),
        () => shown(at),
      ),
    );
  const frame = await longestFrame(page, "document.querySelector('section[aria-label$=apply]')");
  await page.context().close();
  return [
    {
      name: `log of ${lines} lines: opened, until its end is shown`,
      value: whole,
      unit: 'ms',
      limit: MAX_INTERACTIVE,
    },
    { name: `${lines} lines written meanwhile: the last shown after`, value: followed, unit: 'ms' },
    { name: 'longest frame while they were written', value: frameFollowed, unit: 'ms' },
    { name: 'a line appended to it, until it is shown', value: median(appended), unit: 'ms' },
    { name: 'longest frame while scrolling it from end to beginning', value: frame, unit: 'ms' },
  ];
};

export const consolePages: Bench = {
  name: 'console-pages',
  claim:
    'The console loads at most 200 kB and takes input within 1 s, on a slow processor too; long lists and logs stay smooth',
  method:
    'Chromium without a cache against a standalone control plane on the same machine. Times are those ' +
    'of the page, or those until an effect is on the page; medians of five first loads and ten lines.',
  run: async ({ quick, say, records }) => {
    const [rounds, workspaces, lines, manyLines] = quick
      ? [1, 120, PIECE_LINES, PIECE_LINES]
      : [5, records ?? 100_000, 50_000, 1_000_000];
    await using stack = new AsyncDisposableStack();
    const directory = stack.use(await temporaryDirectory());
    const keelson = await startKeelson({
      dataFolder: directory.path,
      env: { KEELSON_RATE_LIMIT: 'off' },
    });
    stack.defer(async () => void (await keelson.stop()));
    const browser = await launchChromium();
    stack.defer(() => browser.close());
    const site: Site = { browser, http: keelson.http, apiToken: keelson.apiToken, say };
    return [
      ...(await measureFirstLoad(site, rounds)),
      ...(await measureList(site, workspaces)),
      ...(await measureLog(site, lines)),
      ...(await measureLongLog(site, manyLines)),
    ];
  },
};
