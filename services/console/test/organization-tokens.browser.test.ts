/** The token of an organization and the one of its audit trail: made, replaced and revoked by owners. */
import type { Page } from '@keelson/testkit/chromium';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();
const ADDRESS = '/app/acme/settings';
const TOKEN = 'organizations/acme/authentication-token';
const TRAIL_TOKEN = `${TOKEN}?token=audit-trails`;

const create = (type: string, attributes: object): object => ({ data: { type, attributes } });

/** Statuses of the audit trail and of the list of workspaces for a token. */
const opened = (token: string): Promise<readonly number[]> =>
  Promise.all(
    ['organization/audit-trail', 'organizations/acme/workspaces'].map(
      async (path) =>
        (
          await fetch(`${site.origin()}/api/v2/${path}`, {
            headers: { authorization: `Bearer ${token}` },
          })
        ).status,
    ),
  );

const rowsOf = (page: Page, of: string) =>
  page.getByRole('table', { name: `Token of ${of}` }).locator('tbody tr');

/** Opens the dialog, fills it in and confirms. */
const submit = async (page: Page, button: string, confirm: string): Promise<void> => {
  await page.getByRole('button', { name: button }).click();
  await page.getByRole('dialog').getByLabel('Where it is used').fill('the collector');
  await page.getByRole('dialog').getByRole('button', { name: confirm, exact: true }).click();
};

const shownToken = async (page: Page): Promise<string> =>
  (await page
    .getByRole('status')
    .filter({ hasText: 'never again' })
    .locator('code')
    .textContent()) ?? '';

beforeAll(async () => {
  const acme = create('organizations', { name: 'acme', email: 'a@b.example' });
  await site.workspaces('POST', 'organizations', acme);
}, PATIENCE_MS);

describe('tokens of an organization', { timeout: PATIENCE_MS }, () => {
  test('are made, shown once, replaced and revoked, one of each kind', async () => {
    const { data: other } = await site.workspaces(
      'POST',
      TOKEN,
      create('authentication-tokens', {}),
    );
    const { page, problems } = await site.openSignedIn(ADDRESS);
    await rowsOf(page, 'the organization').waitFor();
    await page.getByRole('button', { name: 'Create the token of the audit trail' }).click();
    expect(await faultsInVariants(page, 'creating a token of the audit trail')).toEqual({});
    await page.getByRole('button', { name: 'Cancel' }).click();
    await submit(page, 'Create the token of the audit trail', 'Create it');
    const first = await shownToken(page);
    expect(await opened(first)).toEqual([200, 404]);
    await page.reload();
    const row = rowsOf(page, 'the audit trail');
    await row.getByText('the collector', { exact: true }).waitFor();
    expect(await page.getByText('never again').count()).toBe(0);
    // It was used just now.
    expect(await row.locator('td[data-label="Last used"]').textContent()).toMatch(/\d/);
    expect(await faultsInVariants(page, 'tokens of an organization')).toEqual({});

    await submit(page, 'Replace the token of the audit trail', 'Replace it');
    await page.getByText('never again').waitFor();
    const second = await shownToken(page);
    expect([await opened(first), await opened(second)]).toEqual([
      [401, 401],
      [200, 404],
    ]);
    await page.getByRole('button', { name: 'Revoke the collector' }).click();
    await page.getByRole('button', { name: 'Revoke it' }).click();
    await page.getByRole('button', { name: 'Create the token of the audit trail' }).waitFor();
    expect(await opened(second)).toEqual([401, 401]);
    expect(await opened(other.attributes.token)).toEqual([200, 200]);
    expect(problems).toEqual([]);
  });

  test('that somebody else has replaced are not replaced unseen', async () => {
    const make = async () =>
      (await site.workspaces('POST', TRAIL_TOKEN, create('authentication-tokens', {}))).data;
    await make();
    const { page, problems } = await site.openSignedIn(ADDRESS);
    const button = 'Replace the token of the audit trail';
    await page.getByRole('button', { name: button }).click();
    const theirs = await make();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Where it is used').fill('the collector');
    await dialog.getByRole('button', { name: 'Replace it' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'Somebody else' }).waitFor();
    expect(await opened(theirs.attributes.token)).toEqual([200, 404]);
    // The dialog shows the token that is there now, and what was typed stays.
    await dialog.getByRole('button', { name: 'Replace it' }).click();
    await rowsOf(page, 'the audit trail').getByText('the collector', { exact: true }).waitFor();
    expect(await opened(theirs.attributes.token)).toEqual([401, 401]);

    await page.getByRole('button', { name: 'Revoke the collector' }).click();
    const newest = await make();
    await page.getByRole('button', { name: 'Revoke it' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await opened(newest.attributes.token)).toEqual([200, 404]);
    expect(problems).toEqual([]);
  });

  test('are for owners alone', async () => {
    const { data: team } = await site.workspaces(
      'POST',
      'organizations/acme/teams',
      create('teams', { name: 'builders', 'organization-access': { 'manage-workspaces': true } }),
    );
    const token = await site.addUser('bob', team.id);
    const { page, problems } = await site.openSignedIn(ADDRESS, { workspaces: token });
    await page.getByText('Owners of the organization change its settings.').waitFor();
    expect(await page.getByText('Token of').count()).toBe(0);
    expect(problems).toEqual([]);
  });
});
