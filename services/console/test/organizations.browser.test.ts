/** An organization in the console: settings of workspaces, states, projects, teams, agents, variable sets. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { confirm } from './confirm.ts';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();
const O = 'organizations/acme';

const create = (type: string, attributes: object, relationships?: object): object => ({
  data: { type, attributes, ...(relationships && { relationships }) },
});

const addWorkspace = async (name: string): Promise<string> =>
  (await site.workspaces('POST', `${O}/workspaces`, create('workspaces', { name }))).data.id;

/** Stores a state with one output and one resource for each name. */
const addState = async (workspaceId: string, serial: number, names: readonly string[]) => {
  const state = JSON.stringify({
    version: 4,
    terraform_version: '1.9.0',
    serial,
    lineage: 'one-lineage',
    outputs: { count: { value: names.length, type: 'number' } },
    resources: names.map((name) => ({
      mode: 'managed',
      type: 'null_resource',
      name,
      provider: 'provider["registry.terraform.io/hashicorp/null"]',
      instances: [{ schema_version: 0, attributes: { id: name } }],
    })),
  });
  await site.workspaces(
    'POST',
    `workspaces/${workspaceId}/state-versions`,
    create('state-versions', {
      serial,
      lineage: 'one-lineage',
      md5: createHash('md5').update(state).digest('hex'),
      state: Buffer.from(state).toString('base64'),
    }),
  );
};

beforeAll(async () => {
  const mail = 'a@b.example';
  await site.workspaces(
    'POST',
    'organizations',
    create('organizations', { name: 'acme', email: mail }),
  );
}, PATIENCE_MS);

describe('an organization', { timeout: PATIENCE_MS }, () => {
  test('limits the lifetime of tokens, unless that refused the token of whoever asks for it', async () => {
    const { data: own } = await site.workspaces('GET', 'account/details');
    const made = await site.workspaces(
      'POST',
      `users/${own.id}/authentication-tokens`,
      create('authentication-tokens', {
        'expired-at': new Date(Date.now() + 3_600_000).toISOString(),
      }),
    );
    const lasting = await site.openSignedIn('/app/acme/settings');
    const words = 'API tokens that were made for longer';
    await lasting.page.getByLabel(words).check();
    await lasting.page.getByRole('button', { name: 'Save access' }).click();
    const label = lasting.page.locator('label', { hasText: words });
    await label.getByRole('alert').filter({ hasText: 'the token of this request' }).waitFor();

    const { page, problems } = await site.openSignedIn('/app/acme/workspaces', {
      workspaces: made.data.attributes.token,
    });
    await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel(words).check();
    await page.getByRole('button', { name: 'Save access' }).click();
    const notices = page.getByRole('status', { name: 'Notices' });
    await notices.getByText('Saved.', { exact: true }).waitFor();
    expect(await page.getByLabel('Of a member').inputValue()).toBe('730d');
    expect(await faultsInVariants(page, 'settings of an organization')).toEqual({});
    await lasting.page.reload();
    await lasting.page.getByText('accepts only API tokens of a limited lifetime').waitFor();
    await site.workspaces(
      'PATCH',
      O,
      create('organizations', { 'max-ttl-enabled': false }),
      made.data.attributes.token,
    );
    expect(problems).toEqual([]);
  });

  test('changes the settings of a workspace, its tags, its consumers and its sources of runs', async () => {
    await addWorkspace('network');
    await addWorkspace('source');
    const { page, problems } = await site.openSignedIn('/app/acme/workspaces/network?tab=settings');
    const settings = page.getByRole('form', { name: 'Settings' });
    await settings.getByLabel('Description').fill('the wires');
    await settings.getByLabel('Name').fill('wires');
    await settings.getByLabel('without a confirmation').check();
    await settings.getByRole('button', { name: 'Save settings' }).click();
    await page.getByRole('heading', { level: 1, name: 'wires' }).waitFor();
    await confirm(page, 'Add tag', 'Add', (dialog) => dialog.getByLabel('Tag').fill('prod'));
    await confirm(page, 'Remove the tag prod', 'Remove it');
    await page.getByText('It has no tag.').waitFor();
    await confirm(page, 'Add consumer', 'Add it', (dialog) =>
      dialog.getByLabel('Workspace').selectOption('source'),
    );
    await confirm(page, 'Remove source', 'Remove it');
    await page.getByText('No other workspace may read the state.').waitFor();
    await confirm(page, 'Add source', 'Add', (dialog) =>
      dialog.getByLabel('Source workspace').selectOption('source'),
    );
    await confirm(page, 'Remove the source source', 'Remove it');
    await page.getByText('No other workspace starts runs here.').waitFor();
    const { data } = await site.workspaces('GET', `${O}/workspaces/wires`);
    expect(data.attributes).toMatchObject({ description: 'the wires', 'auto-apply': true });
    expect(problems).toEqual([]);
  });

  test('deletes a workspace only while it manages nothing, and says why not', async () => {
    const id = await addWorkspace('kept');
    await site.workspaces('POST', `workspaces/${id}/actions/lock`, {});
    await addState(id, 1, ['a']);
    const { page } = await site.openSignedIn('/app/acme/workspaces/kept?tab=settings');
    await page.getByRole('button', { name: 'Delete the workspace' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('to go on').fill('kept');
    await dialog.getByRole('button', { name: 'Delete it' }).click();
    const reason = await dialog.getByRole('alert').textContent();
    expect(reason).toMatch(/resource|lock/i);
  });

  test('shows the difference of two states, and goes back to the earlier one', async () => {
    const id = await addWorkspace('stateful');
    await site.workspaces('POST', `workspaces/${id}/actions/lock`, {});
    await addState(id, 1, ['a', 'b']);
    await addState(id, 2, ['b', 'c', 'd']);
    const { page, problems } = await site.openSignedIn('/app/acme/workspaces/stateful?tab=states');
    await page.getByRole('row', { name: /count/ }).getByText('3').waitFor();
    const changes = page.getByRole('region', { name: 'Changes between the states' });
    await changes.getByText('null_resource.a').waitFor();
    expect(await changes.getByRole('button').allTextContents()).toEqual([
      '−null_resource.a removed',
      '+null_resource.c added',
      '+null_resource.d added',
      '~output.count changed',
    ]);
    await changes.getByRole('button', { name: 'output.count' }).click();
    await changes.getByRole('listitem').getByText('2', { exact: true }).waitFor();
    await changes.getByRole('listitem').getByText('3', { exact: true }).waitFor();
    await page.getByRole('row', { name: /^2/ }).getByText('admin').waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download serial 1' }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe('stateful-1.tfstate');
    expect(JSON.parse(await readFile(await file.path(), 'utf8'))).toMatchObject({ serial: 1 });
    await confirm(page, 'Roll back to serial 1', 'Roll back');
    await page.getByRole('row', { name: /count/ }).getByText('2').waitFor();
    expect(problems).toEqual([]);
  });

  test('makes projects and teams, and gives teams members, rights and a workspace', async () => {
    await addWorkspace('shared');
    const { page, problems } = await site.openSignedIn('/app/acme/projects');
    await confirm(page, 'Create project', 'Create', (dialog) =>
      dialog.getByLabel('Name').fill('Web'),
    );
    await confirm(page, 'Edit Web', 'Save', (dialog) => dialog.getByLabel('Name').fill('Shop'));
    await confirm(page, 'Delete Shop', 'Delete it');
    await page.getByRole('link', { name: 'Shop' }).waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Teams' }).click();
    await confirm(page, 'Create team', 'Create', (dialog) => dialog.getByLabel('Name').fill('web'));
    const { data: own } = await site.workspaces('GET', 'account/details');
    const { username } = own.attributes;
    await page.getByRole('link', { name: 'web', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'web' }).waitFor();
    await confirm(page, 'Add member', 'Add', (dialog) =>
      dialog.getByLabel('User name').fill(username),
    );
    await page.getByRole('rowheader', { name: username }).waitFor();
    await confirm(page, 'Change the rights', 'Save', (dialog) =>
      dialog.getByLabel('agent pools').check(),
    );
    await page.getByText('It may do: agent pools.').waitFor();
    await confirm(page, 'Create a token for web', 'Create it', (dialog) =>
      dialog.getByLabel('Where it is used').fill('pipeline'),
    );
    const token = (await page.getByRole('status').locator('code').textContent()) ?? '';
    const { data: teams } = await site.workspaces('GET', `${O}/teams`, undefined, token);
    expect(teams.map((team: { attributes: { name: string } }) => team.attributes.name)).toContain(
      'web',
    );
    await confirm(page, 'Revoke pipeline', 'Revoke it');
    await page.getByText('The team has no token.').waitFor();
    await confirm(page, `Remove ${username}`, 'Remove it');
    await page.getByText('It has no member.').waitFor();

    await page.goto(`${site.origin()}/app/acme/workspaces/shared?tab=settings`);
    await confirm(page, 'Give a team access', 'Give access', async (dialog) => {
      await dialog.locator('select[name=team]').selectOption({ label: 'web' });
      await dialog.getByLabel('Access').selectOption('plan');
    });
    await page.getByRole('cell', { name: 'plan', exact: true }).waitFor();
    await confirm(page, 'Change the access of web', 'Save', (dialog) =>
      dialog.getByLabel('Access').selectOption('write'),
    );
    await page.getByRole('cell', { name: 'write', exact: true }).waitFor();
    await confirm(page, 'Remove web', 'Remove it');
    await page.getByText('Only owners, and teams').waitFor();
    await page.getByRole('link', { name: 'Teams' }).click();
    await page.getByRole('link', { name: 'web', exact: true }).click();
    await confirm(page, 'Delete web', 'Delete it', (dialog) =>
      dialog.getByLabel('to go on').fill('web'),
    );
    await page.getByRole('heading', { level: 1, name: 'Teams' }).waitFor();
    await page.getByRole('link', { name: 'web', exact: true }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('makes an agent pool whose token an agent joins with, and shows the agent', async () => {
    const { page, problems } = await site.openSignedIn('/app/acme/agent-pools');
    await confirm(page, 'Create agent pool', 'Create', (dialog) =>
      dialog.getByLabel('Name').fill('cellar'),
    );
    await confirm(page, 'Create a token for cellar', 'Create it', (dialog) =>
      dialog.getByLabel('Where it is used').fill('host one'),
    );
    const token = (await page.getByRole('status').locator('code').textContent()) ?? '';
    await site.workspaces('POST', 'agents', create('agents', { name: 'worker' }), token);
    await page.getByRole('rowheader', { name: 'worker' }).waitFor();
    await confirm(page, 'Revoke host one', 'Revoke it');
    await page.getByText('There is no token').waitFor();
    await confirm(page, 'Delete cellar', 'Delete it', (dialog) =>
      dialog.getByLabel('to go on').fill('cellar'),
    );
    await page.getByText('There is no agent pool').waitFor();
    expect(problems).toEqual([]);
  });

  test('is drained, disabled and enabled by an administrator of the site, and so are its pools and providers', async () => {
    await site.workspaces('POST', `${O}/agent-pools`, create('agent-pools', { name: 'shed' }));
    await site.workspaces(
      'POST',
      `${O}/oauth-clients`,
      create('oauth-clients', {
        name: 'forge',
        'service-provider': 'github',
        'http-url': 'https://github.com',
        'api-url': 'https://api.github.com',
        'oauth-token-string': 'token-of-forge',
      }),
    );
    const { page, problems } = await site.openSignedIn('/app/acme/agent-pools');
    await confirm(page, 'Disable shed', 'Disable it');
    await page.getByText('An administrator of this site has switched it off').waitFor();
    await confirm(page, 'Enable shed', 'Enable it');
    await page.getByRole('button', { name: 'Disable shed' }).waitFor();

    await page.getByRole('link', { name: 'Version control' }).click();
    const forge = page.getByRole('row').filter({ hasText: 'forge' });
    await forge.getByText('enabled').waitFor();
    await confirm(page, 'Disable forge', 'Disable it');
    await forge.getByText('disabled').waitFor();
    await confirm(page, 'Enable forge', 'Enable it');
    await forge.getByText('enabled').waitFor();

    const all = await site.openSignedIn('/app');
    const acme = all.page
      .getByRole('table', { name: 'All organizations of this site' })
      .getByRole('row')
      .filter({ hasText: 'acme' });
    await confirm(all.page, 'Drain acme', 'Drain it');
    await acme.getByText('draining').waitFor();
    await confirm(all.page, 'Disable acme', 'Disable it');
    await acme.getByText('disabled').waitFor();
    await confirm(all.page, 'Enable acme', 'Enable it');
    await acme.getByText('enabled').waitFor();
    expect([...problems, ...all.problems]).toEqual([]);
  });

  test('makes a variable set, applies it, and shows its variables in the workspace', async () => {
    await addWorkspace('varied');
    const { page, problems } = await site.openSignedIn('/app/acme/variable-sets');
    await confirm(page, 'Create variable set', 'Create', (dialog) =>
      dialog.getByLabel('Name').fill('regions'),
    );
    await confirm(page, 'Add variable', 'Add', async (dialog) => {
      await dialog.getByLabel('Name').fill('region');
      await dialog.getByLabel('Value', { exact: true }).fill('north');
    });
    await confirm(page, 'Apply to a workspace: regions', 'Apply', (dialog) =>
      dialog.getByLabel('Workspace').selectOption('varied'),
    );
    await page.getByRole('list', { name: 'Workspaces of regions' }).getByText('varied').waitFor();
    await page.goto(`${site.origin()}/app/acme/workspaces/varied?tab=variables`);
    const inherited = page.getByRole('table', { name: 'Variables of sets' });
    await inherited.getByRole('cell', { name: 'north' }).waitFor();
    await page.goBack();
    await confirm(page, 'Delete regions', 'Delete it', (dialog) =>
      dialog.getByLabel('to go on').fill('regions'),
    );
    await page.getByText('There is no variable set').waitFor();
    expect(problems).toEqual([]);
  });
});
