/**
 * Notifications and invitations in the console.
 *
 * | page | does |
 * | --- | --- |
 * | settings of a workspace; a team | adds a notification, verifies, disables, enables and deletes it; shows its last deliveries |
 * | teams | invites an address, which is then listed as invited, and withdraws the invitation |
 */
import { type RepositoryServer, startRepositoryServer } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { confirm } from './confirm.ts';
import { PATIENCE_MS, useConsole } from './console-harness.ts';

const site = useConsole({ env: { KEELSON_OUTBOUND_RANGES: '127.0.0.1' } });
const O = 'organizations/acme';
/** Accepts every notification. */
let receiver: RepositoryServer;

const create = (type: string, attributes: object): object => ({ data: { type, attributes } });

beforeAll(async () => {
  receiver = await startRepositoryServer();
  const organization = { name: 'acme', email: 'a@b.example' };
  await site.workspaces('POST', 'organizations', create('organizations', organization));
  await site.workspaces('POST', `${O}/workspaces`, create('workspaces', { name: 'web' }));
}, PATIENCE_MS);
afterAll(() => receiver[Symbol.asyncDispose]());

describe('an organization', { timeout: PATIENCE_MS }, () => {
  test.each([
    ['a workspace', 'web', '/app/acme/workspaces/web?tab=settings'],
    ['a team', 'owners', '/app/acme/teams'],
  ])('is notified of the runs of %s', async (_, owner, path) => {
    const { page, problems } = await site.openSignedIn(path);
    if (owner === 'owners') await page.getByRole('link', { name: owner, exact: true }).click();
    const address = `${receiver.url}/${owner}`;
    const received = () => receiver.calls.filter((call) => call.path === `/${owner}`);
    await confirm(page, `Add notification to ${owner}`, 'Add', async (dialog) => {
      await dialog.getByLabel('Name').fill('pager');
      await dialog.locator('input[name=url]').fill(address);
      await dialog.getByLabel('a run fails').check();
    });
    const row = page.getByRole('row', { name: /pager/ });
    await row.getByText('enabled').waitFor();
    expect(received()).toHaveLength(1);
    await confirm(page, 'Verify pager', 'Send it');
    await row.getByText('200').or(row.getByText('201')).first().waitFor();
    expect(received()).toHaveLength(2);
    await confirm(page, 'Disable pager', 'Disable it');
    await row.getByText('disabled').waitFor();
    await confirm(page, 'Enable pager', 'Enable it');
    await row.getByText('enabled').waitFor();
    await confirm(page, 'Delete pager', 'Delete it');
    await row.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('invites an address and withdraws the invitation', async () => {
    const { page, problems } = await site.openSignedIn('/app/acme/teams');
    await confirm(page, 'Invite', 'Invite', (dialog) =>
      dialog.getByLabel('Mail address').fill('new@b.example'),
    );
    const row = page.getByRole('row', { name: /new@b\.example/ });
    await row.getByText('invited').waitFor();
    await confirm(page, 'Withdraw the invitation of new@b.example', 'Withdraw it');
    await row.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });
});
