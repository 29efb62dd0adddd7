/**
 * Workspaces and runs in the console: the pages that `terraform` links to, and the work of a team.
 */

import { readFile } from 'node:fs/promises';
import { addPlannedRun } from '@keelson/testkit/planned-run';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS, titled, useConsole } from './console-harness.ts';

const site = useConsole();

describe('workspaces', { timeout: PATIENCE_MS }, () => {
  test('approves a plan on the page that the client links to, and follows the apply live', async () => {
    const { runId, claim, log, finish } = await addPlannedRun(site, 'approved');
    const { page, problems } = await site.openSignedIn(`/app/acme/approved/runs/${runId}`);
    await page.getByText('2 to add, 0 to change, 0 to destroy').waitFor();
    const change = page
      .locator('.changed-thing[data-kind=create]')
      .filter({ hasText: 'machine.one' });
    await change.getByText('will be created').click();
    await change.getByText('(known after apply)').waitFor();
    await page.locator('.changed-thing[data-kind=update]').getByText('count').waitFor();
    await page.getByText('Log').first().click();
    await page.getByText('Terraform will perform the following actions:').waitFor();
    await page.getByRole('button', { name: 'Confirm and apply' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('to the infrastructure: 2 to add, 0 to change, 0 to destroy.').waitFor();
    await dialog.getByLabel('Comment').fill('go on <b>');
    await dialog.getByRole('button', { name: 'Confirm and apply' }).dblclick();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('listitem').getByText('go on <b>').waitFor();
    await claim();
    await log('Creating one…\n');
    await page.getByText('Creating one…').waitFor();
    await log('Creation complete\n');
    await page.getByText('Creation complete').waitFor();
    await finish({ 'resource-additions': 2 });
    await page.getByText('2 added, 0 changed, 0 destroyed').waitFor();
    expect(await page.getByRole('button', { name: 'Confirm and apply' }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('shows a plan of 10,000 resources, with what is lost first, and filters it', async () => {
    const change = (actions: readonly string[], more: object = {}) => ({ actions, ...more });
    const created = Array.from({ length: 10_000 }, (_, at) => ({
      address: `machine.many[${at}]`,
      change: change(['create'], { before: null, after: { name: `many-${at}` } }),
    }));
    const lost = Array.from({ length: 11 }, (_, at) => ({
      address: `module.old.machine.lost[${at}]`,
      module_address: 'module.old',
      action_reason: 'delete_because_no_module',
      change: change(['delete'], { before: { name: 'x' }, after: null }),
    }));
    const { runId } = await addPlannedRun(site, 'large', {
      counts: { 'resource-additions': 10_000, 'resource-destructions': 11 },
      plan: {
        format_version: '1.2',
        resource_changes: [
          ...created,
          { address: 'machine.kept', change: change(['forget'], { before: { name: 'y' } }) },
          ...lost,
        ],
        resource_drift: [
          {
            address: 'machine.drifted',
            change: change(['update'], { before: { size: 1 }, after: { size: 2 } }),
          },
        ],
        output_changes: { gateway: change(['delete'], { before: '10.0.0.1' }) },
      },
    });
    const { page, problems } = await site.openSignedIn(`/app/acme/large/runs/${runId}`);
    const addresses = page.locator('.changed-thing code');
    await addresses.first().waitFor();
    expect(await addresses.first().innerText()).toBe('module.old.machine.lost[0]');
    await page.getByText('will be destroyed: its module is gone').first().waitFor();
    await page.getByText('leaves the state, and is not destroyed').waitFor();
    // Only the changes in view are in the document.
    expect(await page.locator('.changed-thing').count()).toBeLessThan(150);
    await page.getByLabel('Part of the address').fill('many[9999]');
    await page.getByRole('button', { name: 'machine.many[9999]' }).click();
    await page.getByText('"many-9999"').waitFor();
    await page.getByLabel('Part of the address').fill('');
    await page.getByRole('button', { name: 'Drift 1' }).click();
    await page.getByRole('button', { name: 'machine.drifted' }).click();
    await page.getByText('size', { exact: true }).waitFor();
    expect(await addresses.allInnerTexts()).toEqual(['machine.drifted', 'size']);
    await page.getByRole('button', { name: 'Outputs 1' }).click();
    await page.getByText('will be removed').waitFor();
    await page.getByRole('button', { name: 'Confirm and apply' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('10000 to add, 0 to change, 11 to destroy').waitFor();
    const confirm = dialog.getByRole('button', { name: 'Confirm and apply' });
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByLabel('Type large to go on').fill('large');
    expect(await confirm.isDisabled()).toBe(false);
    expect(problems).toEqual([]);
  });

  test('begins an errored run with its error', async () => {
    const { runId, claim, log, finish } = await addPlannedRun(site, 'failing');
    await site.workspaces('POST', `runs/${runId}/actions/apply`, {});
    await claim();
    await log('Creating…\n╷\n│ Error: quota exceeded\n│ \n│   on main.tf line 3\n╵\n');
    await finish({ status: 'errored' });
    const { page, problems } = await site.openSignedIn(`/app/acme/failing/runs/${runId}`);
    await page.getByRole('region', { name: 'Errors' }).getByText('Error: quota exceeded').waitFor();
    await page.getByRole('list', { name: 'Stages' }).getByText('Errored').waitFor();
    expect(problems).toEqual([]);
  });

  test('discards a run, and takes comments', async () => {
    const { runId } = await addPlannedRun(site, 'discarded');
    const { page } = await site.openSignedIn(`/app/acme/discarded/runs/${runId}`);
    await page.getByLabel('New comment').fill('not on a Friday');
    await page.getByRole('button', { name: 'Add comment' }).click();
    await page.getByRole('listitem').getByText('not on a Friday').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await page.getByText('The run ended before its apply.').waitFor();
    expect(await page.getByRole('button', { name: 'Discard' }).count()).toBe(0);
  });

  test('cancels a run that waits, and says so', async () => {
    const { workspaceId } = await addPlannedRun(site, 'canceled');
    const { data: waiting } = await site.workspaces('POST', 'runs', {
      data: {
        type: 'runs',
        attributes: { message: 'Not now' },
        relationships: { workspace: { data: { type: 'workspaces', id: workspaceId } } },
      },
    });
    const { page, problems } = await site.openSignedIn(`/app/acme/canceled/runs/${waiting.id}`);
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Comment').fill('after the holidays');
    await dialog.locator('button[type=submit]').click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('canceled', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('follows a run by one stream, and asks by itself where there is none', async () => {
    const { runId, claim, log, finish } = await addPlannedRun(site, 'followed');
    await site.workspaces('POST', `runs/${runId}/actions/apply`, {});
    await claim();
    const { page, problems } = await site.openSignedIn('/app');
    const streaming = page.waitForResponse(
      (answer) => answer.url().includes('/live?') && answer.url().includes('downloads'),
    );
    await page.goto(`${site.origin()}/app/acme/followed/runs/${runId}`);
    await streaming;
    await log('Creating one…\n');
    await page.getByText('Creating one…').waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await log('Still creating…\n');
    await page.getByText('Still creating…').waitFor();
    expect(asked.filter((url) => /runs\/|downloads/.test(url) && !/comments/.test(url))).toEqual(
      [],
    );
    expect(problems).toEqual([]);
    await page.route('**/live?*', (route) => route.fulfill({ status: 503 }));
    await page.reload();
    await page.getByText('Still creating…').waitFor();
    await log('Creation complete\n');
    await page.getByText('Creation complete').waitFor();
    await finish({ 'resource-additions': 2 });
    await page.getByText('2 added, 0 changed, 0 destroyed').waitFor();
  });

  test('opens a long log at its end, follows it, and leaves searching and saving to the reader', async () => {
    const { runId, claim, log } = await addPlannedRun(site, 'long');
    await site.workspaces('POST', `runs/${runId}/actions/apply`, {});
    await claim();
    const line = (at: number): string => `machine.one[${at}]: Still creating… \u001B[1m${at} s\n`;
    const write = async (from: number, count: number): Promise<void> => {
      for (let at = from; at < from + count; at += 1000)
        await log(Array.from({ length: 1000 }, (_, more) => line(at + more)).join(''));
    };
    await write(0, 40_000);
    const { page, problems } = await site.openSignedIn('/app');
    const streaming = page.waitForRequest(
      (request) => request.url().includes('/live?') && request.url().includes('downloads'),
    );
    await page.goto(`${site.origin()}/app/acme/long/runs/${runId}`);
    const shown = page.getByRole('region', { name: 'Log of the apply' });
    const left = (): Promise<number> =>
      shown.evaluate((box: { scrollHeight: number; scrollTop: number; clientHeight: number }) =>
        Math.abs(box.scrollHeight - box.scrollTop - box.clientHeight),
      );
    await shown.getByText('one[39999]').waitFor();
    await expect.poll(left).toBeLessThan(2);
    // The stream begins where the log that was there has ended.
    const bytes = Buffer.byteLength(Array.from({ length: 40_000 }, (_, at) => line(at)).join(''));
    expect(decodeURIComponent((await streaming).url())).toContain(`?offset=${bytes + 1}`);

    await write(40_000, 20_000);
    await shown.getByText('one[59999]').waitFor();
    await expect.poll(left).toBeLessThan(2);

    // The browser finds and copies every line, although only those in view are drawn.
    expect(await page.evaluate<boolean>("find('machine.one[17]: Still creating… 17 s')")).toBe(
      true,
    );
    const selected = await shown.evaluate((box: never) => {
      const { getSelection } = globalThis as never as {
        getSelection: () => { selectAllChildren: (of: never) => void; toString: () => string };
      };
      getSelection().selectAllChildren(box);
      return getSelection().toString();
    });
    expect(selected).toContain('machine.one[17]: Still creating… 17 s\n');
    expect(selected.split('\n').filter((one) => one.startsWith('machine.one['))).toHaveLength(
      60_000,
    );
    await shown.press('Home');
    await page.getByRole('button', { name: 'Go to the end' }).click();
    await expect.poll(left).toBeLessThan(2);
    // The event alone does not scroll: lines that arrive between it and the scrolling leave the position alone.
    await shown.evaluate((box: { dispatchEvent: (event: unknown) => void }) => {
      const { WheelEvent } = globalThis as never as {
        WheelEvent: new (type: string, init: { deltaY: number; bubbles: boolean }) => unknown;
      };
      box.dispatchEvent(new WheelEvent('wheel', { deltaY: -1, bubbles: true }));
    });
    await log('Creation complete after 60000 s\n'.repeat(100));
    await shown.getByText('Creation complete').first().waitFor();
    expect(await left()).toBeGreaterThan(40);
    await page.getByRole('button', { name: 'Go to the end' }).click();
    await expect.poll(left).toBeLessThan(2);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download: Log of the apply' }).click();
    const saved = await readFile(await (await download).path(), 'utf8');
    expect(saved.trimEnd().split('\n')).toHaveLength(60_100);
    expect(saved).toContain('machine.one[12345]: Still creating… 12345 s\n');
    expect(problems).toEqual([]);
  });

  test('narrows the list by the address, and the address by the list', async () => {
    await site.workspaces('POST', 'organizations', {
      data: { type: 'organizations', attributes: { name: 'lists', email: 'a@b.example' } },
    });
    for (const name of ['one', 'two', 'onset'])
      await site.workspaces('POST', 'organizations/lists/workspaces', {
        data: { type: 'workspaces', attributes: { name } },
      });
    const { page } = await site.openSignedIn('/app/lists/workspaces?name=on');
    await titled(page, 'Workspaces of lists');
    await page.getByRole('link', { name: 'onset' }).waitFor();
    expect(await page.getByRole('link', { name: 'two' }).count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Name' }).fill('two');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByRole('link', { name: 'two' }).waitFor();
    await page.waitForURL((url) => url.searchParams.get('name') === 'two');
    await page.getByRole('searchbox', { name: 'Name' }).fill('nothing');
    await page.keyboard.press('Enter');
    await page.getByText('No workspace is selected by this search.').waitFor();
  });

  test('filters by tag, project and state of the run, sorts and turns pages, all in the address', async () => {
    const { workspaceId } = await addPlannedRun(site, 'planned-one');
    const { data: project } = await site.workspaces('POST', 'organizations/acme/projects', {
      data: { type: 'projects', attributes: { name: 'Shop' } },
    });
    const names = Array.from({ length: 60 }, (_, at) => `many-${String(at).padStart(2, '0')}`);
    for (const name of names)
      await site.workspaces('POST', 'organizations/acme/workspaces', {
        data: {
          type: 'workspaces',
          attributes: { name },
          ...(name === 'many-07' && {
            relationships: { project: { data: { type: 'projects', id: project.id } } },
          }),
        },
      });
    await site.workspaces('POST', `workspaces/${workspaceId}/relationships/tags`, {
      data: [{ type: 'tags', attributes: { name: 'prod' } }],
    });
    const { page, problems } = await site.openSignedIn('/app/acme/workspaces');
    const rows = page.getByRole('table', { name: 'Workspaces' }).getByRole('rowheader');
    const only = async (name: string, parameter: string, value: string): Promise<void> => {
      await page.waitForURL((url) => url.searchParams.get(parameter) === value);
      await expect.poll(() => rows.allTextContents()).toEqual([expect.stringContaining(name)]);
    };
    await page.getByRole('searchbox', { name: 'Tags' }).fill('prod');
    await page.keyboard.press('Enter');
    await only('planned-one', 'tags', 'prod');
    await page.getByRole('searchbox', { name: 'Tags' }).fill('');
    await page.getByRole('searchbox', { name: 'Name' }).fill('planned-o');
    await page.getByLabel('Current run').selectOption('planned');
    await only('planned-one', 'status', 'planned');
    await page.getByRole('searchbox', { name: 'Name' }).fill('');
    await page.getByLabel('Current run').selectOption('');
    await page.getByLabel('Project').selectOption('Shop');
    await only('many-07', 'project', project.id);
    await page.getByLabel('Project').selectOption('');
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
    await page.waitForURL((url) => url.searchParams.get('sort') === '-name');
    await page.getByRole('searchbox', { name: 'Name' }).fill('many-');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.first().textContent()).toBe('many-59');
    await page.getByText('Page 1 of 2 · 60 in all').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.waitForURL((url) => url.searchParams.get('page') === '2');
    await expect.poll(() => rows.allTextContents()).toEqual(names.slice(0, 10).toReversed());
    // The address alone brings the same selection, order and page back.
    await page.reload();
    await expect.poll(() => rows.allTextContents()).toEqual(names.slice(0, 10).toReversed());
    await page.goBack();
    await expect.poll(() => rows.first().textContent()).toBe('many-59');
    expect(problems).toEqual([]);
  });

  test('locks with a reason, unlocks, and removes a lock only after the name was typed', async () => {
    await site.workspaces('POST', 'organizations', {
      data: { type: 'organizations', attributes: { name: 'locks', email: 'a@b.example' } },
    });
    await site.workspaces('POST', 'organizations/locks/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'app' } },
    });
    const { page, problems } = await site.openSignedIn('/app/locks/workspaces/app');
    const dialog = page.getByRole('dialog');
    const lock = async (reason: string): Promise<void> => {
      await page.getByRole('button', { name: 'Lock', exact: true }).click();
      await dialog.getByLabel('Reason').fill(reason);
      await dialog.getByRole('button', { name: 'Lock', exact: true }).click();
      await page.getByText(`: ${reason}`).waitFor();
    };
    await lock('moving');
    await page.getByRole('button', { name: 'Unlock', exact: true }).click();
    await dialog.getByRole('button', { name: 'Unlock', exact: true }).click();
    await lock('again');
    await page.getByRole('button', { name: 'Force unlock' }).click();
    const force = dialog.getByRole('button', { name: 'Force unlock' });
    expect(await force.isDisabled()).toBe(true);
    await dialog.getByText('may still be changing infrastructure').waitFor();
    await dialog.getByLabel('to go on').fill('app');
    await force.click();
    await page.getByText('Runs may begin').waitFor();
    expect(problems).toEqual([]);
  });

  test('sets variables, and never shows a sensitive one again', async () => {
    await site.workspaces('POST', 'organizations', {
      data: { type: 'organizations', attributes: { name: 'vars', email: 'a@b.example' } },
    });
    await site.workspaces('POST', 'organizations/vars/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'app' } },
    });
    const { page } = await site.openSignedIn('/app/vars/workspaces/app?tab=variables');
    await page.getByText('No variable is set').waitFor();
    await page.getByRole('button', { name: 'Add variable' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('password');
    await dialog.getByLabel('Value', { exact: true }).fill('hush-hush');
    await dialog.getByLabel('Sensitive').check();
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('rowheader', { name: 'password' }).waitFor();
    expect(await page.getByText('hush-hush').count()).toBe(0);
    await page.getByRole('button', { name: 'Delete password' }).click();
    await dialog.getByRole('button', { name: 'Delete it' }).click();
    await page.getByText('No variable is set').waitFor();
    const { data: workspace } = await site.workspaces('GET', 'organizations/vars/workspaces/app');
    for (let at = 0; at < 51; at += 1)
      await site.workspaces('POST', `workspaces/${workspace.id}/vars`, {
        data: { type: 'vars', attributes: { key: `v${100 + at}`, value: '', category: 'env' } },
      });
    await page.reload();
    await page.getByText('Page 1 of 2 · 51 in all').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => page.getByRole('rowheader').count()).toBe(1);
  });

  test('makes a token for a tool and shows it once', async () => {
    const { page } = await site.openSignedIn('/app/settings/tokens');
    await page.getByLabel('Purpose').fill('laptop');
    await page.getByRole('button', { name: 'Create token' }).click();
    const token = await page.getByRole('status').locator('code').textContent();
    expect(token).toContain('.atlasv1.');
    await page.getByRole('rowheader', { name: 'laptop' }).waitFor();
    await page.reload();
    await page.getByRole('rowheader', { name: 'laptop' }).waitFor();
    expect(await page.getByText(token ?? '').count()).toBe(0);
    await page.getByRole('button', { name: 'Revoke laptop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke it' }).click();
    await page.getByRole('rowheader', { name: 'laptop' }).waitFor({ state: 'detached' });
  });
});
