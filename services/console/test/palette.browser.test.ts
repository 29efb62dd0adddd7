/** The search as a palette of actions, and the keyboard shortcuts. */
import type { Page } from '@keelson/testkit/chromium';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS, titled, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';
import { watchRequests } from './settled.ts';

const site = useConsole();

const addOrganization = (name: string): Promise<unknown> =>
  site.workspaces('POST', 'organizations', {
    data: { type: 'organizations', attributes: { name, email: 'a@b.example' } },
  });

const addWorkspace = async (organization: string, name: string): Promise<string> =>
  (
    await site.workspaces('POST', `organizations/${organization}/workspaces`, {
      data: { type: 'workspaces', attributes: { name } },
    })
  ).data.id;

const search = async (page: Page, text: string): Promise<void> => {
  // The page listens to keys once it is there.
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill(text);
};

/** Waits for a result of the search, and chooses it. */
const choose = async (page: Page, text: string, name: string | RegExp): Promise<void> => {
  await search(page, text);
  await page.getByRole('option', { name }).click();
  await page.getByRole('combobox', { name: 'Search' }).waitFor({ state: 'detached' });
};

const policy = async (name: string, rules: string, namespace = ''): Promise<string> => {
  await site.secrets(`sys/policies/acl/${name}`, { policy: rules }, namespace);
  const made = await site.secrets('auth/token/create', { policies: [name] }, namespace);
  return made.auth.client_token;
};

describe('the palette', { timeout: PATIENCE_MS }, () => {
  test('switches the theme, which stays in the browser, and signs out', async () => {
    const { page, problems } = await site.openSignedIn('/ui/');
    const scheme = () =>
      page.evaluate<string>('getComputedStyle(document.documentElement).colorScheme');
    expect(await scheme()).toBe('light dark');
    await choose(page, 'dark theme', 'Use the dark theme');
    expect(await scheme()).toBe('dark');
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await scheme()).toBe('dark');
    await page.goto(`${site.origin()}/docs/pki`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await scheme()).toBe('dark');
    await page.goto(`${site.origin()}/ui/`);
    await choose(page, 'system theme', 'Use the system theme');
    expect(await scheme()).toBe('light dark');
    await choose(page, 'sign out', 'Sign out');
    await titled(page, 'Sign in');
    expect(await page.evaluate('localStorage.length')).toBe(0);
    expect(problems).toEqual([]);
  });

  test('opens what is done with a workspace, a policy and a role', async () => {
    await addOrganization('acme');
    const id = await addWorkspace('acme', 'palette-web');
    const { page, problems } = await site.openSignedIn('/ui/mounts');
    const dialog = page.getByRole('dialog');
    await search(page, 'lock palette');
    await page.getByRole('option', { name: /^Lock palette-web/ }).waitFor();
    await page.getByRole('status', { name: 'Found' }).getByText('result').waitFor();
    expect(await faultsInVariants(page, 'palette')).toEqual({});
    await page.keyboard.press('Escape');
    await search(page, 'lock palette');
    await page.keyboard.press('Enter');
    await dialog.getByText('Lock palette-web?').waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await dialog.getByRole('button', { name: 'Lock', exact: true }).click();
    await page.getByText('Locked by').waitFor();
    await choose(page, id, /^palette-web/);
    await page.getByRole('heading', { level: 1, name: 'palette-web' }).waitFor();
    await choose(page, 'unlock palette', 'Unlock palette-web');
    await dialog.getByText('Unlock palette-web?').waitFor();
    await page.keyboard.press('Escape');
    await choose(page, 'run palette', 'Start a run in palette-web');
    await dialog.getByText('Start a run in palette-web').waitFor();
    await page.keyboard.press('Escape');
    await choose(page, 'create workspace', 'Create workspace in acme');
    await dialog.getByText('Create a workspace in acme').waitFor();
    await dialog.getByLabel('Name').fill('from-palette');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'from-palette' }).waitFor();
    await choose(page, 'create policy', 'Create policy');
    await dialog.getByText('Create a policy').waitFor();
    // The dialog is not opened again with the page.
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
    expect(await dialog.count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('issues by a role of the namespace', async () => {
    await site.secrets('sys/namespaces/desk', {});
    await site.secrets('sys/mounts/pki', { type: 'pki' }, 'desk');
    await site.secrets('pki/root/generate/internal', { common_name: 'D', key_type: 'ec' }, 'desk');
    for (const role of ['printer', 'scanner'])
      await site.secrets(
        `pki/roles/${role}`,
        { allowed_domains: 'desk.example', allow_subdomains: true, key_type: 'ec' },
        'desk',
      );
    const token = await policy(
      'prints',
      'path "pki/*" { capabilities = ["read", "list"] } path "pki/issue/printer" { capabilities = ["update"] }',
      'desk',
    );
    const { page, problems } = await site.openSignedIn('/ui/', {
      secrets: token,
      namespace: 'desk',
    });
    await search(page, 'issue certificate');
    await page.getByRole('option', { name: /^Issue certificate by printer/ }).waitFor();
    expect(await page.getByRole('option', { name: /scanner/ }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await choose(page, 'issue printer', /^Issue certificate by printer/);
    const name = page.getByLabel('Name of the certificate');
    await name.and(page.locator(':focus')).waitFor();
    await name.fill('one.desk.example');
    await page.keyboard.press('Enter');
    await page.getByRole('status', { name: 'Issued' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('offers no action that the person may not perform', async () => {
    await addOrganization('narrow');
    await addWorkspace('narrow', 'narrow-web');
    const { data: team } = await site.workspaces('POST', 'organizations/narrow/teams', {
      data: {
        type: 'teams',
        attributes: { name: 'readers', 'organization-access': { 'read-workspaces': true } },
      },
    });
    const { page, problems } = await site.openSignedIn('/app/narrow/workspaces', {
      workspaces: await site.addUser('palette-reader', team.id),
      secrets: await policy('palette-reads', 'path "*" { capabilities = ["read", "list"] }'),
    });
    const settled = watchRequests(page);
    await search(page, 'narrow-web');
    await page.getByRole('option', { name: /^narrow-web/ }).waitFor();
    const offered: string[] = [];
    for (const text of ['create', 'lock narrow', 'run narrow', 'issue']) {
      await page.getByRole('combobox', { name: 'Search' }).fill(text);
      await settled();
      offered.push(...(await page.getByRole('option').allTextContents()));
    }
    expect(offered.filter((name) => /^(?:Create|Lock|Unlock|Start|Issue)/.test(name))).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('has shortcuts, which a sheet lists, and none while somebody types or a dialog is open', async () => {
    const { page, problems } = await site.openSignedIn('/ui/policies');
    await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await page.keyboard.press('?');
    await sheet.getByText('Go to Mounts').waitFor();
    expect(await faultsInVariants(page, 'shortcuts')).toEqual({});
    // A dialog is open.
    await page.keyboard.press('g');
    await page.keyboard.press('m');
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await titled(page, 'Policies');
    await page.keyboard.press('g');
    await page.keyboard.press('m');
    await titled(page, 'Mounts');
    await page.getByRole('status', { name: 'Page' }).getByText('Mounts · Keelson').waitFor();
    // Another key in between ends the first one.
    await page.keyboard.press('g');
    await page.keyboard.press('x');
    await page.keyboard.press('p');
    await page.keyboard.press('/');
    const box = page.getByRole('combobox', { name: 'Search' });
    await box.waitFor();
    await page.keyboard.type('g p?');
    expect(await box.inputValue()).toBe('g p?');
    await page.keyboard.press('Escape');
    await box.waitFor({ state: 'detached' });
    await titled(page, 'Mounts');
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await titled(page, 'Policies');
    await page.keyboard.press('c');
    const created = page.getByRole('dialog').getByText('Create a policy');
    await created.waitFor();
    await page.keyboard.press('Escape');
    await created.waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await sheet.getByLabel('Single keys are shortcuts').uncheck();
    await sheet.getByRole('button', { name: 'Close' }).click();
    await sheet.waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('m');
    await page.keyboard.press('?');
    await choose(page, 'shortcuts', 'Show keyboard shortcuts');
    await sheet.waitFor();
    await titled(page, 'Policies');
    await sheet.getByLabel('Single keys are shortcuts').check();
    expect(problems).toEqual([]);
  });
});
