/**
 * The activity of an organization.
 *
 * | part | does |
 * | --- | --- |
 * | list | who has changed what, newest first, page by page, with links to what still exists |
 * | filters | user, kind, workspace and days, in the address |
 * | rights | owners alone: others have no link, and the page shows nothing |
 * | start page | the newest changes of the organizations that the person owns |
 */
import type { Page } from '@keelson/testkit/chromium';
import { addPlannedRun } from '@keelson/testkit/planned-run';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();
const O = 'organizations/acme';

const create = (type: string, attributes: object): object => ({ data: { type, attributes } });

const addWorkspace = async (name: string, organization = 'acme'): Promise<string> => {
  const path = `organizations/${organization}/workspaces`;
  return (await site.workspaces('POST', path, create('workspaces', { name }))).data.id;
};

const rowsOf = (page: Page, table = 'Activity') =>
  page.getByRole('table', { name: table }).getByRole('row');

beforeAll(async () => {
  await addPlannedRun(site, 'planned');
  const id = await addWorkspace('network-prod');
  await site.workspaces('POST', `workspaces/${id}/actions/lock`, { reason: 'maintenance' });
  await site.workspaces(
    'POST',
    `workspaces/${id}/vars`,
    create('vars', { key: 'region', value: 'north', category: 'terraform' }),
  );
  const removed = await addWorkspace('short-lived');
  await site.workspaces('DELETE', `workspaces/${removed}`);
}, PATIENCE_MS);

describe('the activity of an organization', { timeout: PATIENCE_MS }, () => {
  test('shows who has changed what, with links to what still exists', async () => {
    const { page, problems } = await site.openSignedIn('/app/acme/workspaces');
    await page.getByRole('link', { name: 'Activity' }).click();
    const rows = rowsOf(page);
    const removal = rows.filter({ hasText: 'short-lived' }).filter({ hasText: 'removed' });
    await removal.getByText('admin').waitFor();
    expect(await removal.getByRole('link').count()).toBe(0);
    await rows.filter({ hasText: 'locked' }).getByRole('link', { name: 'network-prod' }).waitFor();
    expect(await faultsInVariants(page, 'activity')).toEqual({});
    await rows.getByRole('link', { name: 'region' }).click();
    await page.waitForURL('**/app/acme/workspaces/network-prod?tab=variables');
    expect(problems).toEqual([]);
  });

  test('is filtered by user, kind, workspace and days, which the address keeps', async () => {
    const { data: teams } = await site.workspaces('GET', `${O}/teams`);
    const owners = (teams as unknown as { id: string }[])[0]?.id ?? '';
    const workspaces = await site.addUser('grace', owners);
    const id = await addWorkspace('of-grace');
    const { page, problems } = await site.openSignedIn('/app/acme/activity', { workspaces });
    const search = page.getByRole('search', { name: 'Activity' });
    await search.getByRole('searchbox', { name: 'Workspace' }).fill('of-grace');
    await search.getByRole('combobox', { name: 'What' }).selectOption('workspace');
    await search.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL((url) => url.search === '?what=workspace&workspace=of-grace');
    await expect.poll(() => rowsOf(page).count()).toBe(2);
    await search.getByRole('searchbox', { name: 'User' }).fill('grace');
    await search.getByRole('button', { name: 'Search' }).click();
    await page.getByText('No change fits the search.').waitFor();
    const today = new Date().toLocaleDateString('sv');
    await page.goto(`${site.origin()}/app/acme/activity?who=admin&from=${today}&to=${today}`);
    await rowsOf(page).filter({ hasText: 'of-grace' }).waitFor();
    expect(await search.getByLabel('From').inputValue()).toBe(today);
    await page.goto(`${site.origin()}/app/acme/activity?workspace=${id}&to=2020-01-01`);
    await page.getByText('No change fits the search.').waitFor();
    expect(problems).toEqual([]);
  });

  test('has pages, and a person sees one that begins meanwhile', async () => {
    await site.workspaces(
      'POST',
      'organizations',
      create('organizations', { name: 'busy', email: 'a@b.example' }),
    );
    const { page, problems } = await site.openSignedIn('/app/busy/activity');
    await page.getByText('Nothing was changed in the last 30 days.').waitFor();
    const id = await addWorkspace('often-locked', 'busy');
    for (let turn = 0; turn < 50; turn += 1)
      for (const action of ['lock', 'unlock'])
        await site.workspaces('POST', `workspaces/${id}/actions/${action}`);
    await page.reload();
    await expect.poll(() => rowsOf(page).count()).toBe(51);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Page 2 of 3').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.waitForURL('**/app/busy/activity?page=3');
    await rowsOf(page).filter({ hasText: 'created' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('is for owners alone', async () => {
    const { data: team } = await site.workspaces(
      'POST',
      `${O}/teams`,
      create('teams', { name: 'readers', 'organization-access': { 'read-workspaces': true } }),
    );
    const workspaces = await site.addUser('reader', team.id);
    const { page } = await site.openSignedIn('/app/acme/workspaces', { workspaces });
    await page.getByRole('link', { name: 'network-prod' }).waitFor();
    await page.getByRole('link', { name: 'Projects' }).waitFor();
    expect(await page.getByRole('link', { name: 'Activity' }).count()).toBe(0);
    await page.goto(`${site.origin()}/app/acme/activity`);
    await page.getByRole('alert').waitFor();
    expect(await rowsOf(page).count()).toBe(0);
    await page.goto(`${site.origin()}/ui/`);
    await page.getByText('No run waits for you.').first().waitFor();
    expect(await page.getByRole('heading', { name: /^Recent changes/ }).count()).toBe(0);
  });

  test('begins on the start page', async () => {
    await addWorkspace('newest');
    const { page, problems } = await site.openSignedIn('/ui/');
    const rows = rowsOf(page, 'Recent changes in acme');
    await rows.filter({ hasText: 'newest' }).getByText('created').waitFor();
    expect(await rows.count()).toBe(6);
    expect(await faultsInVariants(page, 'recent changes')).toEqual({});
    await page.getByRole('link', { name: 'Activity of acme' }).click();
    await rowsOf(page).filter({ hasText: 'newest' }).waitFor();
    expect(problems).toEqual([]);
  });
});
