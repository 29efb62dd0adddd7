/** The frame of the console: signing in and out, messages, and the served files. */
import type { Page } from '@keelson/testkit/chromium';
import { describe, expect, test } from 'vitest';
import { expectFitsTelephone, PATIENCE_MS, signIn, titled, useConsole } from './console-harness.ts';

const site = useConsole();

const createMessage = (message: object, namespace = ''): Promise<unknown> =>
  site.secrets(
    'sys/config/ui/custom-messages',
    { start_time: '2020-01-01T00:00:00Z', ...message },
    namespace,
  );

const openConsole = async () => {
  const opened = await site.open();
  await opened.page
    .getByRole('heading', { name: 'Keelson' })
    .waitFor()
    .catch((error: unknown) => {
      throw new Error(`the console did not open: ${opened.problems.join('; ')}`, { cause: error });
    });
  return opened;
};

const goTo = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
};

describe('the console', { timeout: PATIENCE_MS }, () => {
  test('accepts the first text typed as the token, refuses a wrong one and shows the reason', async () => {
    const { page } = await openConsole();
    await page.locator('input[name=token]:focus').waitFor();
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    expect(await page.getByRole('alert').textContent()).toContain('permission denied');
  });

  test('accepts a token of either API, and the other in addition', async () => {
    const { page, problems } = await openConsole();
    await signIn(page, site.apiToken());
    await page.getByRole('link', { name: 'Organizations', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Custom messages' }).count()).toBe(0);
    await page.goto(`${site.origin()}/ui/messages`);
    await page.getByRole('heading', { name: 'Add another token' }).waitFor();
    await page.getByLabel('Token').fill(site.rootToken());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Custom messages' }).waitFor();
    const stored = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    for (const token of [site.rootToken(), site.apiToken()]) expect(stored).not.toContain(token);
    expect(problems).toEqual([]);
  });

  test('ends the session of a revoked API token, and shows the reason', async () => {
    const { data: own } = await site.workspaces('GET', 'account/details');
    const path = `users/${own.id}/authentication-tokens`;
    const made = await site.workspaces('POST', path, {
      data: { type: 'authentication-tokens', attributes: { description: 'short' } },
    });
    const { page } = await openConsole();
    await signIn(page, made.data.attributes.token);
    await site.workspaces('DELETE', `authentication-tokens/${made.data.id}`);
    // The overview polls, so it notices by itself.
    await page.getByText('The API token has expired or was revoked').waitFor();
    expect(await page.getByLabel('Token').isVisible()).toBe(true);
  });

  test('shows the tokens of a session to no script, and has one session in all tabs', async () => {
    const { page } = await openConsole();
    await signIn(page, site.rootToken());
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const stored = await page.evaluate<{ readonly texts: string }>(
      `(async () => ({
        texts: JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state]),
        cookies: document.cookie,
        databases: await indexedDB.databases(),
        caches: await caches.keys().catch(() => []),
        workers: (await navigator.serviceWorker?.getRegistrations())?.length ?? 0,
      }))()`,
    );
    expect(stored).toMatchObject({ cookies: '', databases: [], caches: [], workers: 0 });
    expect(stored.texts).not.toContain(site.rootToken());
    const other = await page.context().newPage();
    await other.goto(`${site.origin()}/ui/policies`);
    await other.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
    const removed = page.waitForResponse(
      (answer) => answer.url().endsWith('/session') && answer.request().method() === 'DELETE',
    );
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await other.getByLabel('Token').waitFor();
    await removed;
    expect(await page.context().cookies()).toEqual([]);
    expect(await page.evaluate<number>('localStorage.length')).toBe(0);
  });

  test('sends a change once, however often its button is pressed at the same time', async () => {
    const { page } = await openConsole();
    await signIn(page, site.rootToken());
    await goTo(page, 'Namespaces');
    let count = 0;
    const released = Promise.withResolvers<void>();
    await page.route('**/sys/namespaces/once', async (route) => {
      count += 1;
      await released.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Create namespace' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('once');
    const sent = page.waitForRequest('**/sys/namespaces/once');
    // Within one task, so that the page cannot disable the button in between.
    await page.evaluate(
      "for (let at = 0; at < 5; at += 1) document.querySelector('[role=dialog] form').requestSubmit()",
    );
    await sent;
    await page.evaluate("document.querySelector('[role=dialog] form').requestSubmit()");
    released.resolve();
    await page.getByRole('button', { name: 'once', exact: true }).waitFor();
    expect(count).toBe(1);
  });

  test('ends the session of a revoked token, and shows the reason', async () => {
    const { auth } = await site.secrets('auth/token/create', { policies: ['root'] });
    const { page } = await openConsole();
    await signIn(page, auth.client_token);
    await site.secrets('auth/token/revoke', { token: auth.client_token });
    // The overview polls, so it notices by itself.
    await page.getByText('has expired or was revoked').waitFor();
    expect(await page.getByLabel('Token').isVisible()).toBe(true);
  });

  test('finds screens by name and by keyboard', async () => {
    const { page, problems } = await openConsole();
    await signIn(page, site.rootToken());
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('repli');
    await page.getByRole('option', { name: /Replication/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /Disaster recovery/ }).waitFor();
    await page.getByRole('heading', { name: /Performance/ }).waitFor();
    expect(problems).toEqual([]);
  });

  test('chooses by Enter from what the typed text finds, before the list is drawn again', async () => {
    const { page, problems } = await openConsole();
    await signIn(page, site.rootToken());
    await page.keyboard.press('Control+k');
    // The results for an empty text: the first item is selected, and Replication is among the
    // others.
    await page.locator('[role=option][data-active-item]').waitFor();
    await page.getByRole('option', { name: /Replication/ }).waitFor();
    // Text and Enter within one task, so that nothing can be rendered or selected in between.
    await page.evaluate(`{
      const input = document.querySelector('[role=combobox]');
      const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
      set.call(input, 'repli');
      input.dispatchEvent(new InputEvent('input', { bubbles: true }));
      const enter = { key: 'Enter', code: 'Enter', bubbles: true, cancelable: true };
      input.dispatchEvent(new KeyboardEvent('keydown', enter));
    }`);
    await page.getByRole('heading', { level: 1, name: 'Replication' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('chooses by Enter what the server finds later', async () => {
    const { page, problems } = await openConsole();
    await signIn(page, site.rootToken());
    const entered = Promise.withResolvers<void>();
    await page.route('**/sys/policies/acl?list=true', async (route) => {
      await entered.promise;
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('defau');
    await page.keyboard.press('Enter');
    entered.resolve();
    await page.getByRole('heading', { level: 1, name: 'default' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('finds entities of both APIs by name, serial number or id', async () => {
    await site.workspaces('POST', 'organizations', {
      data: { type: 'organizations', attributes: { name: 'sought', email: 'a@b.example' } },
    });
    await site.workspaces('POST', 'organizations/sought/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'needle-app' } },
    });
    await site.workspaces('POST', 'organizations/sought/teams', {
      data: { type: 'teams', attributes: { name: 'needle-team' } },
    });
    await site.secrets('sys/mounts/haystack', { type: 'pki' });
    await site.secrets('haystack/root/generate/internal', { common_name: 'H', key_type: 'ec' });
    await site.secrets('haystack/roles/needle', { allow_any_name: true, key_type: 'ec' });
    const { data } = await site.secrets('haystack/issue/needle', {
      common_name: 'needle.example',
      ttl: '1h',
    });
    await site.secrets('sys/policies/acl/needle', {
      policy: 'path "needle" { capabilities = ["read"] }',
    });
    const { page, problems } = await site.openSignedIn('/ui/');
    await page.keyboard.press('Control+k');
    const search = page.getByRole('combobox', { name: 'Search' });
    await search.fill('needle');
    for (const name of [/needle-app/, /needle-team/, /^needle\W*haystack/, /needle\.example/])
      await page.getByRole('option', { name }).first().waitFor();
    await page.getByRole('option', { name: 'needle', exact: true }).waitFor();
    // Parts of words in their order are enough.
    await search.fill('aud dev');
    await page.getByRole('option', { name: /^Audit devices/ }).waitFor();
    await search.fill(data.serial_number);
    await page.getByRole('option', { name: /needle\.example/ }).click();
    await page.getByRole('heading', { level: 1, name: 'needle.example' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('tells how many matches are not shown, and which part was searched', async () => {
    for (let index = 0; index < 6; index += 1)
      await site.workspaces('POST', 'organizations', {
        data: {
          type: 'organizations',
          attributes: { name: `wide-${index}`, email: 'a@b.example' },
        },
      });
    for (let index = 0; index < 9; index += 1)
      await site.workspaces('POST', 'organizations/wide-5/workspaces', {
        data: { type: 'workspaces', attributes: { name: `straw-${index}` } },
      });
    for (let index = 0; index < 6; index += 1)
      await site.secrets(`sys/mounts/wide-${index}`, { type: 'pki' });
    // The organization whose page is shown is among those searched.
    const { page, problems } = await site.openSignedIn('/app/wide-5/workspaces');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('straw');
    await page.getByText('Workspaces · 8 of 9').waitFor();
    await page.getByText(/^Searched in 5 of \d+ organizations\.$/).waitFor();
    await page.getByText(/^Searched in 5 of \d+ authorities\.$/).waitFor();
    expect(problems).toEqual([]);
  });

  test('names its cluster and version, and goes from organization to organization', async () => {
    for (const name of ['north', 'south'])
      await site.workspaces('POST', 'organizations', {
        data: { type: 'organizations', attributes: { name, email: 'a@b.example' } },
      });
    const health = await (await fetch(`${site.origin()}/v1/sys/health`)).json();
    const { page, problems } = await site.openSignedIn('/app/north/workspaces');
    const { cluster_name: cluster, version } = health as Record<string, string>;
    await page.getByRole('banner').getByText(`${cluster} ${version}`).waitFor();
    await titled(page, 'Workspaces of north');
    await page.getByRole('navigation').getByRole('link', { name: 'south' }).click();
    await titled(page, 'Workspaces of south');
    expect(await page.getByRole('link', { name: 'Teams' }).getAttribute('href')).toBe(
      '/app/south/teams',
    );
    expect(problems).toEqual([]);
  });

  test('holds the place of what is loading', async () => {
    const { page, problems } = await site.openSignedIn('/ui/namespaces');
    const released = Promise.withResolvers<void>();
    await page.route('**/sys/policies/acl?list=true', async (route) => {
      await released.promise;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Policies' }).click();
    await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    released.resolve();
    await page.getByRole('link', { name: 'default' }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('announces another page, and the keyboard goes on from its beginning', async () => {
    const { page, problems } = await site.openSignedIn('/ui/namespaces');
    await page.getByRole('link', { name: 'Mounts' }).click();
    await page.getByRole('status', { name: 'Page' }).getByText('Mounts · Keelson').waitFor();
    await page.locator('main:focus').waitFor();
    await page.getByRole('link', { name: 'Workspaces' }).click();
    await page.getByRole('heading', { level: 1, name: 'Organizations' }).waitFor();
    expect(await page.getByRole('link', { name: 'Mounts' }).count()).toBe(0);
    await page.goto(`${site.origin()}/ui/certificates`);
    const products = page.getByRole('navigation', { name: 'Products' });
    await products.getByRole('link', { name: 'Certificates', exact: true }).waitFor();
    expect(await products.locator('[aria-current]').allTextContents()).toEqual(['Certificates']);
    expect(problems).toEqual([]);
  });

  test('is worked by keyboard alone, which goes into a dialog and back', async () => {
    const { page, problems } = await site.openSignedIn('/ui/namespaces');
    const create = page.getByRole('button', { name: 'Create namespace' });
    await create.waitFor();
    await page.keyboard.press('Tab');
    await page.locator('.frame-skip:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await create.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await create.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Name').focus();
    await page.keyboard.type('typed');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'typed', exact: true }).waitFor();
    await create.and(page.locator(':focus')).waitFor();
    expect(problems).toEqual([]);
  });

  test('creates a message through the form, shows it, and removes it', async () => {
    const { page, problems } = await openConsole();
    await signIn(page, site.rootToken());
    await goTo(page, 'Custom messages');
    await page.getByRole('button', { name: 'Create message' }).click();
    await page.getByLabel('before login').check();
    await page.getByLabel('Title', { exact: true }).fill('Wartung ✓');
    await page.getByLabel('Message').fill('Sonntag früh');
    await page.getByLabel('Starts').fill('2020-01-01T00:00');
    await page.getByLabel('Link title').fill('Plan');
    const isTaken = async (address: string): Promise<boolean> => {
      await page.getByLabel('Link address').fill(address);
      return page.evaluate<boolean>("document.querySelector('[name=linkHref]').checkValidity()");
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
    await signIn(page, site.rootToken());
    await page.getByRole('tab', { name: 'Before login' }).click();
    await page.getByRole('button', { name: 'Delete Wartung ✓' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete it' }).click();
    await page.getByText('No message is shown before login').waitFor();
    expect(problems).toEqual([]);
  });

  test('goes from tab to tab by the arrow keys, and names its pages', async () => {
    const { page, problems } = await openConsole();
    await titled(page, 'Sign in');
    await signIn(page, site.rootToken());
    await goTo(page, 'Custom messages');
    await titled(page, 'Custom messages');
    await page.getByRole('tab', { name: 'After login' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: 'Before login', selected: true }).waitFor();
    await page.getByRole('tab', { name: 'Before login' }).and(page.locator(':focus')).waitFor();
    await page.getByRole('tabpanel', { name: 'Before login' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('filters messages by state and type in the address, draws their schedule and turns pages', async () => {
    await site.secrets('sys/namespaces/planned', {});
    const later = new Date(Date.now() + 86_400_000).toISOString();
    const past = '2020-01-01T00:00:00Z';
    const messages = [
      { title: 'now', start_time: past },
      { title: 'soon', start_time: later },
      { title: 'gone', start_time: '2019-01-01T00:00:00Z', end_time: '2020-02-01T00:00:00Z' },
      ...Array.from({ length: 50 }, (_, at) => ({
        title: `modal ${at}`,
        type: 'modal',
        start_time: later,
      })),
    ];
    for (const message of messages) await createMessage({ message: 'SGk=', ...message }, 'planned');
    const { page, problems } = await openConsole();
    await signIn(page, site.rootToken(), 'planned');
    await page.getByRole('button', { name: 'Close' }).waitFor({ state: 'detached' });
    await goTo(page, 'Custom messages');
    const names = page.getByRole('table', { name: 'Messages' }).locator('bdi');
    await page.getByText('Page 1 of 2 · 53 in all').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => names.count()).toBe(3);
    await page.getByLabel('Type').selectOption('banner');
    await page.waitForURL((url) => url.searchParams.get('type') === 'banner');
    await expect.poll(() => names.allTextContents()).toEqual(['soon', 'now', 'gone']);
    const schedule = page.getByRole('img', {
      name: /^Schedule: soon, from .* without an end; now/,
    });
    await schedule.getByText(/^ended /).waitFor();
    expect(await schedule.locator('rect').count()).toBe(2);
    await page.getByLabel('State').selectOption('over');
    await expect.poll(() => names.allTextContents()).toEqual(['gone']);
    await page.reload();
    await expect.poll(() => names.allTextContents()).toEqual(['gone']);
    await page.getByLabel('State').selectOption('active');
    await expect.poll(() => names.allTextContents()).toEqual(['now']);
    expect(problems).toEqual([]);
  });

  test('shows messages of the namespaces above, as text and never as markup', async () => {
    await site.secrets('sys/namespaces/team', {});
    const markup = Buffer.from('<img src=x onerror=alert(1)>').toString('base64');
    await createMessage({ title: 'From root', message: markup, authenticated: false });
    await createMessage({ title: 'From team', message: 'SGk=', authenticated: false }, 'team');
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

  test('goes to another namespace from the head of the page', async () => {
    await site.secrets('sys/namespaces/branch', {});
    await createMessage({ title: 'From a branch', message: 'SGk=' }, 'branch');
    const { page } = await openConsole();
    await signIn(page, site.rootToken());
    await page.getByLabel('Namespace').selectOption('branch');
    await goTo(page, 'Custom messages');
    await page.getByRole('cell', { name: 'From a branch', exact: true }).waitFor();
    expect(await page.getByText('From root').count()).toBe(0);
  });

  test('shows a modal after login, until it is dismissed or the page is loaded again', async () => {
    const text = Buffer.from(`Hello\n${'a line of a long text\n'.repeat(200)}`).toString('base64');
    const link = { End: 'https://example.com' };
    await createMessage({ title: 'Read me', message: text, type: 'modal', link });
    const { page, problems } = await openConsole();
    await signIn(page, site.rootToken());
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Hello').waitFor();
    // The dialog opens at the start of its text, with its close button visible.
    const tops = await page.evaluate<number[]>(
      "[document.querySelector('dialog'), document.querySelector('dialog section')].map((one) => one.scrollTop)",
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

  test('fits messages of any length and number on a telephone', async () => {
    // Base64 of "iiii…".
    const word = 'awordwithoutanend'.repeat(12);
    const endless = { title: word, message: 'aWlp'.repeat(100), link: { [word]: 'https://x' } };
    for (const authenticated of [true, false]) await createMessage({ ...endless, authenticated });
    for (const title of ['One', 'Two', 'Three'])
      await createMessage({ title, message: 'SGk=', authenticated: false });
    const { page } = await openConsole();
    await page.getByText('awordwithoutanend').first().waitFor();
    await expectFitsTelephone(page);
    // However many messages there are, the form stays reachable and all messages can be dismissed together.
    expect((await page.getByLabel('Token').boundingBox())?.y).toBeLessThan(640);
    await page.getByRole('button', { name: 'Dismiss all' }).click();
    await page.getByText('awordwithoutanend').waitFor({ state: 'detached' });
    await signIn(page, site.rootToken());
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByText('awordwithoutanend').last().waitFor();
    await expectFitsTelephone(page);
    await page.getByRole('button', { name: 'Menu' }).click();
    await goTo(page, 'Custom messages');
    await page.getByRole('button', { name: 'Create message' }).click();
    await page.getByRole('heading', { name: 'Create message' }).waitFor();
    await expectFitsTelephone(page);
  });

  test('reloads when a file or a response is missing', async () => {
    const { page } = await openConsole();
    const lost = ['**/ui/assets/index-*.js', '**/unauthenticated-messages', '**/lookup-self'];
    for (const url of lost) await page.route(url, (route) => route.abort(), { times: 1 });
    await createMessage({ title: 'Stays', message: 'SGk=', authenticated: false });
    await page.reload();
    await page.getByText('Stays').waitFor();
    await signIn(page, site.rootToken());
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('sends every file with a policy that forbids foreign code, and caches its versions', async () => {
    const answer = await fetch(`${site.origin()}/ui/`);
    const policy = answer.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    // The policy allows no inline scripts, not even by hash, and the page has none.
    expect(policy).not.toContain('sha256');
    const html = await answer.text();
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
    expect(html).toContain('<link rel="icon"');
    expect((await fetch(`${site.origin()}/ui/keelson.svg`)).headers.get('content-type')).toBe(
      'image/svg+xml',
    );
    const again = await fetch(`${site.origin()}/ui/`, {
      headers: { 'if-none-match': answer.headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
    expect((await fetch(`${site.origin()}/ui/absent.js`)).status).toBe(404);
    expect((await fetch(`${site.origin()}/ui/..%2fconsole.ts`)).status).toBe(404);
  });
});
