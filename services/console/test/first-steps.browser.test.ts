/** The first steps in a new installation, with the mouse, up to a certificate and an applied workspace. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@keelson/testkit/chromium';
import { configurationWith } from '@keelson/testkit/planned-run';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';
import { watchRequests } from './settled.ts';

const site = useConsole();
const MOST_CLICKS = 15;

type Locator = ReturnType<Page['locator']>;

const create = (type: string, attributes: object): object => ({ data: { type, attributes } });

/** Executes the phases of the runs of a workspace, as the built-in runner does where there is one. */
const joinAgent = async (workspaceId: string) => {
  const { data: pool } = await site.workspaces(
    'POST',
    'organizations/first/agent-pools',
    create('agent-pools', { name: 'pool' }),
  );
  const { data: secret } = await site.workspaces(
    'POST',
    `agent-pools/${pool.id}/authentication-tokens`,
    create('authentication-tokens', {}),
  );
  const { token } = secret.attributes;
  const { data: agent } = await site.workspaces(
    'POST',
    'agents',
    create('agents', { name: 'agent' }),
    token,
  );
  await site.workspaces(
    'PATCH',
    `workspaces/${workspaceId}`,
    create('workspaces', { 'execution-mode': 'agent', 'agent-pool-id': pool.id }),
  );
  return async (): Promise<void> => {
    const claim = { data: { type: 'agents', id: agent.id } };
    const { data: phase } = await site.workspaces('POST', 'agent-runs/actions/claim', claim, token);
    await site.workspaces(
      'PATCH',
      `agent-runs/${phase.id}`,
      create('agent-runs', { status: 'finished', 'has-changes': true, 'resource-additions': 1 }),
      phase.attributes.token,
    );
  };
};

describe('the first steps', { timeout: PATIENCE_MS }, () => {
  test('lead to a certificate and an applied workspace by at most fifteen clicks', async () => {
    const { page, problems } = await site.openSignedIn('/ui/');
    let clicks = 0;
    const click = async (target: Locator): Promise<void> => {
      clicks += 1;
      await target.click();
    };
    const button = (name: string, exact = true) => page.getByRole('button', { name, exact });
    const dialog = page.getByRole('dialog');
    const card = page
      .locator('.card')
      .filter({ has: page.getByRole('heading', { name: 'First steps' }) });
    await card.getByText('Create a workspace.').waitFor();
    expect(await faultsInVariants(page, 'first steps')).toEqual({});

    await click(card.getByRole('button', { name: 'Create authority' }));
    await dialog.getByLabel('Name of the root').fill('Example Root');
    await click(dialog.getByRole('button', { name: 'Create', exact: true }));
    await click(button('Create role'));
    await dialog.getByLabel('Name', { exact: true }).fill('web');
    await dialog.getByLabel('Domains, separated by commas').fill('example.com');
    await click(dialog.getByRole('button', { name: 'Create', exact: true }));
    await click(button('Issue by web'));
    await page.getByLabel('Name of the certificate').fill('www.example.com');
    await click(button('Issue the certificate'));
    await page.getByRole('status', { name: 'Issued' }).waitFor();

    await click(page.getByRole('link', { name: 'Keelson' }));
    await click(card.getByRole('button', { name: 'Create workspace' }));
    await dialog.getByLabel('Organization').fill('first');
    await dialog.getByLabel('Address for mail').fill('a@b.example');
    await dialog.getByLabel('Name', { exact: true }).fill('network');
    await click(dialog.getByRole('button', { name: 'Create', exact: true }));
    await card.getByRole('button', { name: 'Upload a configuration' }).waitFor();
    const { data: workspace } = await site.workspaces(
      'GET',
      'organizations/first/workspaces/network',
    );
    const executeNext = await joinAgent(workspace.id);
    const archive = join(site.folder(), 'network.tar.gz');
    await writeFile(archive, configurationWith('main.tf', ''));
    await click(card.getByRole('button', { name: 'Upload a configuration' }));
    // Choosing a file is a click of its own.
    clicks += 1;
    await dialog.getByLabel('Archive').setInputFiles(archive);
    await click(dialog.getByRole('button', { name: 'Upload', exact: true }));
    const run = card.getByRole('link', { name: 'Open the run' });
    await run.waitFor();
    await executeNext();
    await click(run);
    await click(button('Confirm and apply'));
    await click(dialog.getByRole('button', { name: 'Confirm and apply' }));
    await dialog.waitFor({ state: 'detached' });
    await executeNext();
    await site.until('organizations/first/runs?filter[status]=applied', ({ data }) => data[0]);
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
    await page.goto(`${site.origin()}/ui/`);
    await page.getByRole('heading', { name: 'Runs of first' }).waitFor();
    await card.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('are those that the person may take, and stay hidden', async () => {
    const { auth } = await site.secrets('auth/token/create', { policies: ['default'] });
    const { data: team } = await site.workspaces(
      'POST',
      'organizations/first/teams',
      create('teams', { name: 'readers', 'organization-access': { 'read-workspaces': true } }),
    );
    const reader = await site.addUser('reader', team.id);
    const few = await site.openSignedIn('/ui/', {
      secrets: auth.client_token,
      workspaces: reader,
    });
    const settled = watchRequests(few.page);
    await few.page.getByRole('heading', { name: 'Your token' }).waitFor();
    await settled();
    expect(await few.page.getByRole('heading', { name: 'First steps' }).count()).toBe(0);

    await site.secrets('sys/namespaces/team', {});
    const { page } = await site.openSignedIn('/ui/', { namespace: 'team' });
    await page.getByRole('button', { name: 'Create authority' }).waitFor();
    await page.getByRole('button', { name: 'Hide these steps' }).click();
    await page.getByRole('heading', { name: 'First steps' }).waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('heading', { name: 'Your token' }).waitFor();
    expect(await page.getByRole('heading', { name: 'First steps' }).count()).toBe(0);
  });
});
