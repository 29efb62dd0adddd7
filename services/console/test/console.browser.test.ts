/** The console in Chromium, served by a standalone control plane. */
import { startKeelson, temporaryDirectory } from '@keelson/testkit';
import {
  type Browser,
  launchChromium,
  openPage,
  type Page,
  type WatchedPage,
} from '@keelson/testkit/chromium';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

const directory = await temporaryDirectory();
let keelson: Awaited<ReturnType<typeof startKeelson>>;
let browser: Browser;

beforeAll(async () => {
  keelson = await startKeelson({ dataFolder: directory.path });
  browser = await launchChromium();
}, 120_000);
afterAll(async () => {
  await browser.close();
  await keelson.stop();
  await directory[Symbol.asyncDispose]();
});

const api = async (path: string, body: object, namespace = ''): Promise<unknown> => {
  const answer = await fetch(`${keelson.http}/v1/${path}`, {
    method: 'POST',
    headers: {
      'x-service-token': keelson.rootToken,
      'content-type': 'application/json',
      ...(namespace !== '' && { 'x-service-namespace': namespace }),
    },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
};

const createMessage = (message: object, namespace = ''): Promise<unknown> =>
  api(
    'sys/config/ui/custom-messages',
    { start_time: '2020-01-01T00:00:00Z', ...message },
    namespace,
  );

const openConsole = async (): Promise<WatchedPage> => {
  const opened = await openPage(browser, keelson.http);
  const { page, problems } = opened;
  onTestFinished(() => page.context().close());
  await page
    .getByRole('heading', { name: 'Keelson' })
    .waitFor()
    .catch((error: unknown) => {
      throw new Error(`the console did not open: ${problems.join('; ')}`, { cause: error });
    });
  return opened;
};

const signIn = async (page: Page, namespace = ''): Promise<void> => {
  if (namespace !== '') await page.getByLabel('Namespace').fill(namespace);
  await page.getByLabel('Token').fill(keelson.rootToken);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
};

const titled = (page: Page, title: string) =>
  page.waitForFunction(`document.title === ${JSON.stringify(title)}`);

describe('the console', { timeout: 180_000 }, () => {
  test('takes what is typed first as the token, refuses a wrong one and says why', async () => {
    const { page } = await openConsole();
    await page.waitForFunction("document.activeElement?.getAttribute('name') === 'token'");
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    expect(await page.getByRole('alert').textContent()).toContain('permission denied');
  });

  test('creates a message through the form, shows it, and loses it when it is deleted', async () => {
    const { page, problems } = await openConsole();
    await signIn(page);
    await page.getByRole('button', { name: 'Create message' }).click();
    await page.getByLabel('before login').check();
    await page.getByLabel('Title', { exact: true }).fill('Wartung ✓');
    await page.getByLabel('Message').fill('Sonntag früh');
    await page.getByLabel('Starts').fill('2020-01-01T00:00');
    await page.getByLabel('Link title').fill('Plan');
    const isTaken = async (address: string): Promise<boolean> => {
      await page.getByLabel('Link address').fill(address);
      return page.evaluate<boolean>("document.querySelector('[name=link-href]').checkValidity()");
    };
    expect(await isTaken('javascript:alert(1)')).toBe(false);
    expect(await isTaken('/docs')).toBe(true);
    expect(await isTaken('https://example.com/plan')).toBe(true);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('status').getByText('Sonntag früh').waitFor();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('cell', { name: 'Wartung ✓', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    const banner = page.getByRole('status');
    await banner.getByText('Sonntag früh').waitFor();
    expect(await banner.getByRole('link').getAttribute('href')).toBe('https://example.com/plan');
    await signIn(page);
    await page.getByRole('tab', { name: 'Before login' }).click();
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No message is shown before login').waitFor();
    expect(problems).toEqual([]);
  });

  test('shows a modal after login, until it is dismissed or the page is loaded again', async () => {
    const text = Buffer.from(`Hello\n${'a line of a long text\n'.repeat(200)}`).toString('base64');
    const link = { End: 'https://example.com' };
    await createMessage({ title: 'Read me', message: text, type: 'modal', link });
    const { page, problems } = await openConsole();
    await signIn(page);
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Hello').waitFor();
    // From its beginning, with the way out of it in sight.
    const tops = await page.evaluate<number[]>(
      "[document.querySelector('dialog'), document.querySelector('dialog .text')].map((one) => one.scrollTop)",
    );
    expect(tops).toEqual([0, 0]);
    const close = await dialog.getByRole('button', { name: 'Close' }).boundingBox();
    expect((close?.y ?? 0) + (close?.height ?? 0)).toBeLessThan(page.viewportSize()?.height ?? 0);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.reload();
    await dialog.getByText('Hello').waitFor();
    expect(problems).toEqual([]);
  });

  test('shows messages of the namespaces above, as text and never as markup', async () => {
    await api('sys/namespaces/team', {});
    const markup = Buffer.from('<img src=x onerror=alert(1)>').toString('base64');
    await createMessage({ title: 'From root', message: markup, authenticated: false });
    await createMessage(
      {
        title: 'From team',
        message: 'SGk=',
        authenticated: false,
        link: { Bad: 'javascript:alert(1)' },
      },
      'team',
    );
    const { page, problems } = await openConsole();
    await page.getByText('From root').waitFor();
    expect(await page.getByText('From team').count()).toBe(0);
    await page.getByLabel('Namespace').fill('team');
    await page.getByLabel('Token').focus();
    await page.getByText('From team').waitFor();
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    expect(await page.getByRole('status').getByRole('link').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('shows both kinds of replication', async () => {
    const { page, problems } = await openConsole();
    await signIn(page);
    // The modal of another test lies in front of the page.
    await page.goto(`${keelson.http}/ui/#replication`);
    await page.getByRole('heading', { name: /Disaster recovery/, includeHidden: true }).waitFor();
    await page.getByRole('heading', { name: /Performance/, includeHidden: true }).waitFor();
    expect(problems).toEqual([]);
  });

  test('fits a telephone, on every page', async () => {
    // Base64 of "iiii…".
    const word = 'awordwithoutanend'.repeat(12);
    const endless = { title: word, message: 'aWlp'.repeat(100), link: { [word]: 'https://x' } };
    for (const authenticated of [true, false]) await createMessage({ ...endless, authenticated });
    for (const title of ['One', 'Two', 'Three'])
      await createMessage({ title, message: 'SGk=', authenticated: false });
    const { page } = await openConsole();
    await page.setViewportSize({ width: 360, height: 640 });
    await page.getByText('awordwithoutanend').first().waitFor();
    const overhang = () =>
      page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(await overhang()).toBeLessThanOrEqual(0);
    // However many messages there are, the form is within reach, and all go at once.
    expect((await page.getByLabel('Token').boundingBox())?.y).toBeLessThan(640);
    await page.getByRole('button', { name: 'Dismiss all' }).click();
    await page.getByText('awordwithoutanend').waitFor({ state: 'detached' });
    await signIn(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByText('awordwithoutanend').last().waitFor();
    expect(await overhang()).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: 'Create message' }).click();
    await page.getByRole('heading', { name: 'Create message' }).waitFor();
    expect(await overhang()).toBeLessThanOrEqual(0);
    await page.getByRole('link', { name: 'Replication' }).click();
    await page.getByRole('heading', { name: /Disaster recovery/ }).waitFor();
    expect(await overhang()).toBeLessThanOrEqual(0);
  });

  test('goes from tab to tab by the arrow keys, and names its pages', async () => {
    const { page } = await openConsole();
    await titled(page, 'Sign in · Keelson');
    await signIn(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await titled(page, 'Custom messages · Keelson');
    await page.getByRole('tab', { name: 'After login' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: 'Before login', selected: true }).waitFor();
    expect((await page.locator(':focus').textContent())?.trim()).toBe('Before login');
    await page.getByRole('tabpanel', { name: 'Before login' }).waitFor();
  });

  test('is loaded again where a module or an answer was not', async () => {
    const { page } = await openConsole();
    const lost = ['**/ui/loading.js', '**/unauthenticated-messages', '**/lookup-self'];
    for (const url of lost) await page.route(url, (route) => route.abort(), { times: 1 });
    await createMessage({ title: 'Stays', message: 'SGk=', authenticated: false });
    await page.reload();
    await page.getByText('Stays').waitFor();
    await signIn(page);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('sends no file without the policy that forbids foreign code, and knows its versions', async () => {
    const answer = await fetch(`${keelson.http}/ui/`);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    const again = await fetch(`${keelson.http}/ui/`, {
      headers: { 'if-none-match': answer.headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
    expect((await fetch(`${keelson.http}/ui/absent.js`)).status).toBe(404);
    expect((await fetch(`${keelson.http}/ui/..%2fconsole.ts`)).status).toBe(404);
  });

  test('says that the cluster is sealed, where nobody can sign in', async () => {
    await api('sys/seal', {});
    const { page } = await openConsole();
    expect(await page.getByRole('note').textContent()).toContain('This cluster is sealed');
  });
});
