/** Changes of several things at once: what is shown before, what is refused, and what becomes of each. */
import type { Page } from '@keelson/testkit/chromium';
import { addPlannedRun } from '@keelson/testkit/planned-run';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();

const create = (type: string, attributes: object, relationships?: object): object => ({
  data: { type, attributes, ...(relationships && { relationships }) },
});

const addOrganization = (name: string): Promise<unknown> =>
  site.workspaces('POST', 'organizations', create('organizations', { name, email: 'a@b.example' }));

const addWorkspace = async (organization: string, name: string): Promise<string> =>
  (
    await site.workspaces(
      'POST',
      `organizations/${organization}/workspaces`,
      create('workspaces', { name }),
    )
  ).data.id;

const attributesOf = async (id: string) =>
  (await site.workspaces('GET', `workspaces/${id}`)).data.attributes;

const table = (page: Page) => page.getByRole('table', { name: 'Workspaces' });

/** Selects the workspaces of the page by name. */
const select = async (page: Page, ...names: readonly string[]): Promise<void> => {
  for (const name of names)
    await table(page)
      .getByRole('checkbox', { name: `Select ${name}`, exact: true })
      .check();
};

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('region', { name: 'Selected' }).getByRole('button', { name, exact: true }).click();

/** The lines of the dialog, as "name: what happens". */
const linesOf = async (page: Page): Promise<readonly string[]> => {
  const rows = page.getByRole('dialog').locator('tbody tr');
  await rows.first().waitFor();
  return (await rows.all()).reduce<Promise<string[]>>(
    async (done, row) => [
      ...(await done),
      `${await row.locator('th').textContent()}: ${await row.locator('.pill').textContent()}`,
    ],
    Promise.resolve([]),
  );
};

describe('several at once', { timeout: PATIENCE_MS }, () => {
  test('workspaces are locked and unlocked, with what is refused and what stays shown before', async () => {
    await addOrganization('several');
    const ids = new Map<string, string>();
    for (const name of ['one', 'two', 'three', 'four'])
      ids.set(name, await addWorkspace('several', name));
    const idOf = (name: string): string => ids.get(name) ?? '';
    const { data: teams } = await site.workspaces('GET', 'organizations/several/teams');
    const second = await site.addUser('second-person', teams[0].id);
    await site.workspaces(
      'POST',
      `workspaces/${idOf('two')}/actions/lock`,
      { reason: 'mine' },
      second,
    );
    const { page, problems } = await site.openSignedIn('/app/several/workspaces');
    await select(page, 'one', 'two', 'three');
    await page
      .getByRole('status', { name: 'Selection' })
      .getByText('3 workspaces selected')
      .waitFor();
    // The list was read before the second person locks this one.
    await site.workspaces('POST', `workspaces/${idOf('three')}/actions/lock`, {}, second);
    await press(page, 'Lock');
    const dialog = page.getByRole('dialog');
    expect((await linesOf(page)).toSorted()).toEqual([
      'one: will change',
      'three: refused',
      'two: refused',
    ]);
    await dialog.getByText('It is locked already, by second-person.').first().waitFor();
    await dialog.getByRole('status').getByText('1 to change, 0 unchanged, 2 refused.').waitFor();
    expect(await faultsInVariants(page, 'lock several')).toEqual({});
    await dialog.getByLabel('Reason').fill('moving');
    await dialog.getByRole('button', { name: 'Lock 1 workspace' }).click();
    await dialog.getByText('1 of 1: 1 done.').waitFor();
    expect(await linesOf(page)).toContain('one: done');
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect(await attributesOf(idOf('one'))).toMatchObject({
      locked: true,
      'locked-reason': 'moving',
    });
    // The button that opened the dialog has gone with the selection.
    await page.locator('main:focus').waitFor();
    await table(page).getByRole('rowheader', { name: 'onelocked' }).waitFor();
    await select(page, 'one', 'two', 'four');
    await press(page, 'Unlock');
    expect((await linesOf(page)).toSorted()).toEqual([
      'four: stays',
      'one: will change',
      'two: refused',
    ]);
    await dialog.getByRole('button', { name: 'Unlock 1 workspace' }).click();
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect((await attributesOf(idOf('one'))).locked).toBe(false);
    expect((await attributesOf(idOf('two'))).locked).toBe(true);
    expect(problems).toEqual([]);
  });

  test('101 workspaces are tagged, and one that fails stops no other', async () => {
    await addOrganization('hundred');
    const ids: string[] = [];
    for (let at = 0; at < 101; at += 1)
      ids.push(await addWorkspace('hundred', `w-${String(at).padStart(3, '0')}`));
    const { page, problems } = await site.openSignedIn('/app/hundred/workspaces?name=w-');
    await page.getByRole('checkbox', { name: 'Select all of this page' }).check();
    await page.getByRole('button', { name: 'Select all 101' }).click();
    await page
      .getByRole('status', { name: 'Selection' })
      .getByText('101 workspaces selected')
      .waitFor();
    await press(page, 'Add tags');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Tags, separated by commas').fill('prod, eu');
    await dialog.getByText('It gets prod, eu.').first().waitFor();
    // The server has too many requests once, which the page waits out.
    let isBusy = true;
    await page.route(`**/workspaces/${ids[10]}/relationships/tags`, async (route) => {
      if (isBusy) await route.fulfill({ status: 429, json: { errors: [{ detail: 'busy' }] } });
      else await route.continue();
      isBusy = false;
    });
    // One is deleted after it was looked at.
    await site.workspaces('POST', `workspaces/${ids[50]}/actions/safe-delete`);
    await dialog.getByRole('button', { name: 'Add tags to 101 workspaces' }).click();
    await dialog.getByText('101 of 101: 100 done, 1 failed.').waitFor();
    expect((await linesOf(page))[0]).toBe('w-050: failed');
    expect(await dialog.locator('tbody tr').first().locator('small').textContent()).not.toBe('');
    await dialog.getByRole('button', { name: 'Close' }).click();
    // The one that failed stays selected.
    await page
      .getByRole('status', { name: 'Selection' })
      .getByText('1 workspace selected')
      .waitFor();
    expect((await attributesOf(ids[100] ?? ''))['tag-names'].toSorted()).toEqual(['eu', 'prod']);
    expect(problems).toEqual([]);
  });

  test('a token that is revoked in the middle stops the others, and says which', async () => {
    await addOrganization('stopped');
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c', 'd']) ids.push(await addWorkspace('stopped', name));
    const { data: own } = await site.workspaces('GET', 'account/details');
    const made = await site.workspaces(
      'POST',
      `users/${own.id}/authentication-tokens`,
      create('authentication-tokens', { description: 'short' }),
    );
    const { page } = await site.openSignedIn('/app/stopped/workspaces', {
      workspaces: made.data.attributes.token,
    });
    let sent = 0;
    await page.route('**/actions/lock', async (route) => {
      sent += 1;
      if (sent === 2) await site.workspaces('DELETE', `authentication-tokens/${made.data.id}`);
      await route.continue();
    });
    await page.getByRole('checkbox', { name: 'Select all of this page' }).check();
    await press(page, 'Lock');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Lock 4 workspaces' }).click();
    await page.getByText('Lock: 1 done, 1 failed, 2 not attempted. Not done: b, c, d.').waitFor();
    expect(sent).toBe(2);
    const locked = await Promise.all(ids.map(async (id) => (await attributesOf(id)).locked));
    expect(locked).toEqual([true, false, false, false]);
  });

  test('runs are started and workspaces moved, where the person may', async () => {
    const { workspaceId: web } = await addPlannedRun(site, 'web', { organization: 'rights' });
    const { workspaceId: mail } = await addPlannedRun(site, 'mail', { organization: 'rights' });
    await addWorkspace('rights', 'unseen');
    const { data: team } = await site.workspaces(
      'POST',
      'organizations/rights/teams',
      create('teams', { name: 'planners' }),
    );
    for (const [id, access] of [
      [web, 'plan'],
      [mail, 'read'],
    ])
      await site.workspaces(
        'POST',
        'team-workspaces',
        create(
          'team-workspaces',
          { access },
          {
            team: { data: { type: 'teams', id: team.id } },
            workspace: { data: { type: 'workspaces', id } },
          },
        ),
      );
    const token = await site.addUser('planner', team.id);
    const { page, problems } = await site.openSignedIn('/app/rights/workspaces', {
      workspaces: token,
    });
    await select(page, 'web', 'mail');
    const bar = page.getByRole('region', { name: 'Selected' });
    expect(await bar.getByRole('button').allTextContents()).toEqual([
      'Start runs',
      'Clear selection',
    ]);
    await press(page, 'Start runs');
    const dialog = page.getByRole('dialog');
    expect((await linesOf(page)).toSorted()).toEqual(['mail: refused', 'web: will change']);
    await dialog.getByLabel('What to do').selectOption('Plan only');
    await dialog.getByLabel('Why').fill('After the upgrade');
    await dialog.getByRole('button', { name: 'Start runs in 1 workspace' }).click();
    await dialog.getByText('1 of 1: 1 done.').waitFor();
    const { data: runs } = await site.workspaces(
      'GET',
      `workspaces/${web}/runs?filter[operation]=plan_only`,
    );
    expect(runs[0].attributes).toMatchObject({ message: 'After the upgrade', 'plan-only': true });
    expect(problems).toEqual([]);

    const { data: project } = await site.workspaces(
      'POST',
      'organizations/rights/projects',
      create('projects', { name: 'Shop' }),
    );
    for (let at = 0; at < 101; at += 1)
      await site.workspaces(
        'POST',
        'organizations/rights/projects',
        create('projects', { name: `p-${at}` }),
      );
    const owner = await site.openSignedIn('/app/rights/workspaces');
    await select(owner.page, 'web', 'mail', 'unseen');
    await press(owner.page, 'Move');
    const moving = owner.page.getByRole('dialog');
    const field = moving.getByLabel('Project', { exact: true });
    await field.selectOption('Shop');
    // It stays when others are looked for.
    await moving.getByLabel("Part of the project's name").fill('p-10');
    await expect.poll(() => field.locator('option').count()).toBe(4);
    expect(await field.inputValue()).toBe(project.id);
    await moving.getByRole('button', { name: 'Move 3 workspaces' }).click();
    await moving.getByText('3 of 3: 3 done.').waitFor();
    for (const id of [web, mail])
      expect(
        (await site.workspaces('GET', `workspaces/${id}`)).data.relationships.project.data.id,
      ).toBe(project.id);
    expect(owner.problems).toEqual([]);
  });

  test('a move is offered by the rights on the project, and refused out of another one', async () => {
    await addOrganization('moving');
    const addProject = async (name: string): Promise<string> =>
      (await site.workspaces('POST', 'organizations/moving/projects', create('projects', { name })))
        .data.id;
    const [from, to, other] = [
      await addProject('Start'),
      await addProject('Target'),
      await addProject('Other'),
    ];
    for (const [name, id] of [
      ['mine', from],
      ['theirs', other],
    ])
      await site.workspaces(
        'POST',
        'organizations/moving/workspaces',
        create('workspaces', { name }, { project: { data: { type: 'projects', id } } }),
      );
    const { data: team } = await site.workspaces(
      'POST',
      'organizations/moving/teams',
      create('teams', { name: 'movers' }),
    );
    for (const [id, isMover] of [
      [from, true],
      [to, true],
      [other, false],
    ] as const)
      await site.workspaces(
        'POST',
        'team-projects',
        create(
          'team-projects',
          {
            access: 'custom',
            'project-access': { settings: 'read' },
            'workspace-access': { move: isMover, runs: 'read' },
          },
          {
            team: { data: { type: 'teams', id: team.id } },
            project: { data: { type: 'projects', id } },
          },
        ),
      );
    const { page, problems } = await site.openSignedIn('/app/moving/workspaces', {
      workspaces: await site.addUser('mover', team.id),
    });
    await select(page, 'mine', 'theirs');
    await press(page, 'Move');
    const dialog = page.getByRole('dialog');
    expect((await linesOf(page)).toSorted()).toEqual(['mine: will change', 'theirs: refused']);
    const field = dialog.getByLabel('Project', { exact: true });
    expect(await field.locator('option').allTextContents()).toEqual([
      'choose one',
      'Start',
      'Target',
    ]);
    await field.selectOption('Start');
    await dialog.getByText('It is in this project.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Move 0 workspaces' }).isDisabled()).toBe(true);
    await field.selectOption('Target');
    await dialog.getByRole('button', { name: 'Move 1 workspace' }).click();
    await dialog.getByText('1 of 1: 1 done.').waitFor();
    expect(problems).toEqual([]);
  });

  test('nothing can be selected by a person who may change nothing', async () => {
    await addOrganization('reading');
    await addWorkspace('reading', 'one');
    const { data: team } = await site.workspaces(
      'POST',
      'organizations/reading/teams',
      create('teams', { name: 'readers', 'organization-access': { 'read-workspaces': true } }),
    );
    const token = await site.addUser('list-reader', team.id);
    const { page, problems } = await site.openSignedIn('/app/reading/workspaces', {
      workspaces: token,
    });
    await page.getByRole('link', { name: 'one', exact: true }).waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(problems).toEqual([]);
  });
});
