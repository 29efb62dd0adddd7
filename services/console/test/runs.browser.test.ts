/** Runs of a workspace in the console: the first one, those that somebody starts, and those that are looked for. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addPlannedRun, configurationWith } from '@keelson/testkit/planned-run';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();

const addWorkspace = async (name: string): Promise<string> => {
  await site.workspaces('GET', 'organizations/new').catch(() =>
    site.workspaces('POST', 'organizations', {
      data: { type: 'organizations', attributes: { name: 'new', email: 'a@b.example' } },
    }),
  );
  const { data } = await site.workspaces('POST', 'organizations/new/workspaces', {
    data: { type: 'workspaces', attributes: { name } },
  });
  return data.id;
};

describe('runs', { timeout: PATIENCE_MS }, () => {
  test('of a new workspace begin with its block, or with an archive', async () => {
    const id = await addWorkspace('first');
    const { page, problems } = await site.openSignedIn('/app/new/workspaces/first');
    await page.getByText('organization = "new"').waitFor();
    await page.getByText(`terraform login ${new URL(site.origin()).host}`).waitFor();
    const archive = join(site.folder(), 'first.tar.gz');
    await writeFile(archive, configurationWith('main.tf', ''));
    await page.getByRole('button', { name: 'Upload a configuration' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Archive').setInputFiles(archive);
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await site.until(`workspaces/${id}/runs`, ({ data }) => data[0]);
    await page.getByRole('tab', { name: 'Runs' }).click();
    await page.getByRole('table', { name: 'Runs' }).getByRole('rowheader').first().waitFor();
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByText('organization = "new"').waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('are started with all their options, and shown', async () => {
    await addPlannedRun(site, 'asked');
    const { page, problems } = await site.openSignedIn('/app/acme/workspaces/asked?tab=runs');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Start a run' }).click();
    await dialog.getByLabel('What to do').selectOption('Plan only');
    await dialog.getByText('More options').click();
    await dialog.getByLabel('Only these resources').fill('machine.one\n\n machine.two ');
    await dialog.getByLabel('Variables of this run').fill('no variable');
    await dialog.getByLabel('Why').fill('A look at two machines');
    await dialog.getByRole('button', { name: 'Start', exact: true }).click();
    expect(await dialog.getByRole('alert').textContent()).toContain(
      '"no variable" is not a variable',
    );
    await dialog.getByLabel('Variables of this run').fill('region = "eu"\nsize = [1, 2]');
    await dialog.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'A look at two machines' }).waitFor();
    const { data: started } = await site.workspaces('GET', `runs/${page.url().split('/').at(-1)}`);
    expect(started.attributes).toMatchObject({
      message: 'A look at two machines',
      'plan-only': true,
      'target-addrs': ['machine.one', 'machine.two'],
      variables: [
        { key: 'region', value: '"eu"' },
        { key: 'size', value: '[1, 2]' },
      ],
    });
    await page.getByRole('link', { name: 'asked' }).click();
    await page.getByRole('link', { name: 'A look at two machines' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('are listed with their changes and people, and looked for by state and text', async () => {
    await addPlannedRun(site, 'listed', { counts: { 'resource-destructions': 3 } });
    const { page, problems } = await site.openSignedIn('/app/acme/workspaces/listed?tab=runs');
    const row = page.getByRole('row').filter({ hasText: 'Two machines more' });
    await row.getByText('−3').waitFor();
    await row.getByText('admin').waitFor();
    await page.getByLabel('Runs that').selectOption('Have failed');
    await page.getByText('No run fits the search.').waitFor();
    await page.getByLabel('Runs that').selectOption('Wait for somebody');
    await row.waitFor();
    const search = page.getByRole('search', { name: 'Runs' });
    await search.getByRole('searchbox').fill('nothing like it');
    await search.getByRole('button', { name: 'Search' }).click();
    await page.getByText('No run fits the search.').waitFor();
    expect(problems).toEqual([]);
  });

  test('show the checks that are not met, and a picture of what depends on what', async () => {
    const machine = (name: string, actions: readonly string[] = ['create']) => ({
      address: `machine.${name}`,
      change: { actions, before: null, after: { name } },
    });
    const refers = (name: string, ...to: readonly string[]) => ({
      address: `machine.${name}`,
      expressions: { references: to.map((one) => `machine.${one}.id`) },
    });
    const check = (address: string, status: string, ...messages: readonly string[]) => ({
      address: { to_display: address },
      status,
      problems: messages.map((message) => ({ message })),
    });
    const { runId } = await addPlannedRun(site, 'drawn', {
      plan: {
        resource_changes: [
          machine('web'),
          machine('network', ['update']),
          machine('gone', ['delete']),
        ],
        checks: [
          check('check.fine', 'pass'),
          check('check.certificate', 'fail', 'It expires <b>soon</b>.'),
          check('output.address', 'unknown'),
        ],
        configuration: {
          root_module: {
            resources: [refers('network'), refers('web', 'kept'), refers('kept', 'network')],
          },
        },
      },
    });
    const { data: team } = await site.workspaces('POST', 'organizations/acme/teams', {
      data: {
        type: 'teams',
        attributes: { name: 'plan-readers', 'organization-access': { 'read-workspaces': true } },
      },
    });
    const { page, problems } = await site.openSignedIn(`/app/acme/drawn/runs/${runId}`, {
      workspaces: await site.addUser('plan-reader', team.id),
    });
    await page.getByText('Checks: 3 conditions, 1 not met').waitFor();
    const checks = page.getByRole('table', { name: 'Checks' }).locator('tbody tr');
    await checks.first().getByText('It expires <b>soon</b>.').waitFor();
    expect(await checks.locator('th').allTextContents()).toEqual([
      'check.certificate',
      'output.address',
      'check.fine',
    ]);
    await page.getByText('Dependencies', { exact: true }).click();
    await page.getByRole('img', { name: 'Dependencies of 3 resources' }).waitFor();
    const dependencies = page.getByRole('table', { name: 'Dependencies' });
    // It depends on the network over a resource that does not change.
    await dependencies
      .getByRole('row')
      .filter({ hasText: 'machine.web' })
      .getByText('machine.network')
      .waitFor();
    expect(await page.getByLabel('Picture of the dependencies').locator('path').count()).toBe(1);
    expect(await faultsInVariants(page, 'plan with checks and dependencies')).toEqual({});
    expect(problems).toEqual([]);
  });

  test('have no picture of a hundred resources, whose dependencies a table names', async () => {
    const addresses = Array.from({ length: 101 }, (_, at) => `machine.m${at}`);
    const { runId } = await addPlannedRun(site, 'wide', {
      plan: {
        resource_changes: addresses.map((address) => ({
          address,
          change: { actions: ['create'] },
        })),
        configuration: {
          root_module: {
            resources: addresses.map((address, at) => ({
              address,
              expressions: { references: at === 0 ? [] : [`machine.m${at - 1}`] },
            })),
          },
        },
      },
    });
    const { page, problems } = await site.openSignedIn(`/app/acme/wide/runs/${runId}`);
    await page.getByText('Dependencies', { exact: true }).click();
    await page.getByText('A picture of 101 resources would show nothing').waitFor();
    await page.getByText('Page 1 of 3 · 101 in all').waitFor();
    expect(await page.getByLabel('Picture of the dependencies').count()).toBe(0);
    expect(problems).toEqual([]);
  });
});
