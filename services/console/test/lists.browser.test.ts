/** Lists of the console: their order, their filters, and the views that a person saves. */

import { storeSession } from '@keelson/testkit/browser-session';
import type { Page } from '@keelson/testkit/chromium';
import { addPlannedRun } from '@keelson/testkit/planned-run';
import { describe, expect, test } from 'vitest';
import { confirm } from './confirm.ts';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

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

const rowsOf = (page: Page) =>
  page.getByRole('table', { name: 'Workspaces' }).getByRole('rowheader');

describe('lists', { timeout: PATIENCE_MS }, () => {
  test('sort by their heads, by keyboard too, with the order in the address', async () => {
    await addOrganization('sorted');
    for (const name of ['beta', 'alpha', 'gamma']) await addWorkspace('sorted', name);
    const { page, problems } = await site.openSignedIn('/app/sorted/workspaces');
    const names = (): Promise<readonly string[]> => rowsOf(page).allTextContents();
    const head = (title: string) => page.getByRole('columnheader', { name: title });
    await expect.poll(names).toEqual(['alpha', 'beta', 'gamma']);
    expect(await head('Name').getAttribute('aria-sort')).toBe('ascending');
    // Times begin with the newest.
    await head('Changed').getByRole('button').click();
    await page.waitForURL((url) => url.searchParams.get('sort') === '-latest-change-at');
    await expect.poll(names).toEqual(['gamma', 'alpha', 'beta']);
    expect(await head('Changed').getAttribute('aria-sort')).toBe('descending');
    expect(await head('Name').getAttribute('aria-sort')).toBe('none');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('sort') === 'latest-change-at');
    await expect.poll(names).toEqual(['beta', 'alpha', 'gamma']);
    expect(await head('Resources').getByRole('button').count()).toBe(0);
    await page.reload();
    await expect.poll(names).toEqual(['beta', 'alpha', 'gamma']);
    // Where rows are stacked, the heads that sort stay.
    await page.setViewportSize({ width: 360, height: 640 });
    await head('Name').getByRole('button').click();
    await expect.poll(names).toEqual(['alpha', 'beta', 'gamma']);
    expect(await faultsInVariants(page, 'sorted list')).toEqual({});
    expect(problems).toEqual([]);
  });

  test('keep their page in the address, also of 102 teams, and return to it', async () => {
    await addOrganization('paged');
    const path = 'organizations/paged/teams';
    const ids: string[] = [];
    for (let at = 0; at < 101; at += 1) {
      const attributes = { name: `team-${String(at).padStart(3, '0')}` };
      ids.push(
        (await site.workspaces('POST', path, { data: { type: 'teams', attributes } })).data.id,
      );
    }
    const { page, problems } = await site.openSignedIn('/app/paged/teams');
    const pages = page.getByRole('navigation', { name: 'Pages of the list' });
    await pages.getByText('Page 1 of 3 · 102 in all').waitFor();
    await pages.getByRole('button', { name: 'Next' }).click();
    await pages.getByRole('button', { name: 'Next' }).click();
    await pages.getByText('Page 3 of 3').waitFor();
    expect(new URL(page.url()).searchParams.get('teams-page')).toBe('3');
    const rows = page.getByRole('table', { name: 'Teams' }).getByRole('link');
    await expect.poll(() => rows.count()).toBe(2);
    await rows.first().click();
    await page.getByRole('link', { name: 'Teams', exact: true }).first().waitFor();
    await page.goBack();
    await pages.getByText('Page 3 of 3').waitFor();
    await page.goBack();
    await pages.getByText('Page 2 of 3').waitFor();
    await page.goForward();
    await pages.getByText('Page 3 of 3').waitFor();
    // The third page ends while it is open.
    await Promise.all(
      (await rows.allTextContents())
        .flatMap((name) => ids[Number(name.slice('team-'.length))] ?? [])
        .map((id) => site.workspaces('DELETE', `teams/${id}`)),
    );
    await page.reload();
    await pages.getByText('Page 2 of 2').waitFor();
    expect(problems).toEqual([]);
  });

  test('of projects sort by name', async () => {
    await addOrganization('projected');
    for (const name of ['Beta', 'Alpha'])
      await site.workspaces('POST', 'organizations/projected/projects', {
        data: { type: 'projects', attributes: { name } },
      });
    const { page, problems } = await site.openSignedIn('/app/projected/projects?sort=-name');
    const rows = page.getByRole('table', { name: 'Projects' }).getByRole('rowheader');
    await expect.poll(() => rows.allTextContents()).toEqual(['Default Project', 'Beta', 'Alpha']);
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
    await expect.poll(() => rows.allTextContents()).toEqual(['Alpha', 'Beta', 'Default Project']);
    expect(problems).toEqual([]);
  });

  test('keep the heads of a long table in view', async () => {
    await addOrganization('long');
    for (let at = 0; at < 40; at += 1) await addWorkspace('long', `one-${at}`);
    const { page } = await site.openSignedIn('/app/long/workspaces');
    await rowsOf(page).last().scrollIntoViewIfNeeded();
    const box = await page.getByRole('columnheader', { name: 'Name' }).boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect(box?.y).toBeLessThan(5);
  });

  test('have views that a person saves under a name, for that account alone', async () => {
    await addOrganization('viewed');
    for (const name of ['web', 'web-old', 'mail']) await addWorkspace('viewed', name);
    const { page, problems } = await site.openSignedIn('/app/viewed/workspaces');
    const views = page.getByRole('navigation', { name: 'Saved views' });
    await rowsOf(page).first().waitFor();
    expect(await views.count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Name' }).fill('web');
    await page.keyboard.press('Enter');
    await expect.poll(() => rowsOf(page).count()).toBe(2);
    const name = '<b>Web</b> "1"';
    await confirm(page, 'Save view', 'Save', (dialog) => dialog.getByLabel('Name').fill(name));
    await views.getByRole('link', { name }).waitFor();
    expect(await page.getByRole('button', { name: 'Save view' }).count()).toBe(0);
    expect(await faultsInVariants(page, 'saved views')).toEqual({});
    await page.getByRole('searchbox', { name: 'Name' }).fill('');
    await page.keyboard.press('Enter');
    await expect.poll(() => rowsOf(page).count()).toBe(3);
    await page.reload();
    await views.getByRole('link', { name }).click();
    await page.waitForURL((url) => url.searchParams.get('name') === 'web');
    await expect.poll(() => rowsOf(page).count()).toBe(2);
    expect(await page.getByRole('searchbox', { name: 'Name' }).inputValue()).toBe('web');
    // Another person at the same browser has views of their own.
    const owners = (await site.workspaces('GET', 'organizations/viewed/teams')).data.find(
      ({ attributes }: { attributes: { name: string } }) => attributes.name === 'owners',
    );
    const other = await site.addUser('other-viewer', owners.id);
    const enter = async (workspaces: string) => {
      await page.evaluate(await storeSession(page.context(), site.origin(), { workspaces }));
    };
    await enter(other);
    await page.reload();
    await expect.poll(() => rowsOf(page).count()).toBe(2);
    await page.getByRole('button', { name: 'Save view' }).waitFor();
    expect(await views.getByRole('link').count()).toBe(0);
    await enter(site.apiToken());
    await page.reload();
    await views.getByRole('button', { name: `Delete the view ${name}` }).click();
    await views.getByRole('link').waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('ignore views in the storage that are none', async () => {
    await addOrganization('broken');
    await addWorkspace('broken', 'one');
    const { data: account } = await site.workspaces('GET', 'account/details');
    const { page, problems } = await site.openSignedIn('/app/broken/workspaces');
    await rowsOf(page).first().waitFor();
    for (const text of ['{', 'null', '[1, {"name": 2}, {"name": "x", "filter": "sort"}]'])
      await page.evaluate(
        `localStorage.setItem('keelson-views ${account.id} workspaces of broken', ${JSON.stringify(text)})`,
      );
    await page.reload();
    await rowsOf(page).first().waitFor();
    expect(await page.getByRole('navigation', { name: 'Saved views' }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('keep the filters of runs in the address, with views for all workspaces', async () => {
    await addPlannedRun(site, 'filtered');
    const { page, problems } = await site.openSignedIn(
      '/app/acme/workspaces/filtered?tab=runs&runs=errored',
    );
    await page.getByText('No run fits the search.').waitFor();
    await page.getByLabel('Runs that').selectOption('Wait for somebody');
    await page.waitForURL((url) => url.searchParams.get('runs') === 'waiting');
    await page.getByRole('link', { name: 'Two machines more' }).waitFor();
    await confirm(page, 'Save view', 'Save', (dialog) => dialog.getByLabel('Name').fill('Mine'));
    await addPlannedRun(site, 'another');
    await page.goto(`${site.origin()}/app/acme/workspaces/another?tab=runs`);
    const view = page.getByRole('navigation', { name: 'Saved views' }).getByRole('link');
    await view.click();
    await page.waitForURL((url) => url.searchParams.get('runs') === 'waiting');
    expect(new URL(page.url()).pathname).toBe('/app/acme/workspaces/another');
    expect(await page.getByLabel('Runs that').inputValue()).toBe('waiting');
    expect(problems).toEqual([]);
  });
});
