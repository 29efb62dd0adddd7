/** Administrators of the site manage its people: searched page by page, added, suspended, promoted and deleted. */
import type { Page } from '@keelson/testkit/chromium';
import { beforeAll, describe, expect, test } from 'vitest';
import { choose } from './confirm.ts';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();
const AT = '/app/settings/people';

const addPerson = async (username: string): Promise<string> => {
  const { data } = await site.workspaces('POST', 'admin/users', {
    data: { type: 'users', attributes: { username, email: `${username}@b.example` } },
  });
  return data.id;
};

const tokenFor = async (id: string): Promise<string> => {
  const { data } = await site.workspaces('POST', `users/${id}/authentication-tokens`, {
    data: { type: 'authentication-tokens', attributes: { description: 'test' } },
  });
  return data.attributes.token;
};

const statusOf = async (token: string): Promise<number> =>
  (
    await fetch(`${site.origin()}/api/v2/account/details`, {
      headers: { authorization: `Bearer ${token}` },
    })
  ).status;

const rowsOf = (page: Page) => page.getByRole('table', { name: 'People' }).locator('tbody tr');

const press = async (
  page: Page,
  person: string,
  action: string,
  confirm = action,
): Promise<void> => {
  await choose(page, person, action);
  await page.getByRole('dialog').getByRole('button', { name: confirm, exact: true }).click();
};

beforeAll(async () => {
  for (let at = 100; at < 201; at += 1) await addPerson(`person-${at}`);
}, PATIENCE_MS);

describe('people', { timeout: PATIENCE_MS }, () => {
  test('are found among more than a hundred, with the search in the address', async () => {
    const { page, problems } = await site.openSignedIn(AT);
    await page.getByText('102 accounts: 0 suspended, 1 administrator of the site.').waitFor();
    await expect.poll(() => rowsOf(page).count()).toBe(50);
    expect(await faultsInVariants(page, 'people')).toEqual({});
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Page 2 of 3 · 102 in all').waitFor();
    const form = page.getByRole('search', { name: 'People' });
    await form.getByLabel('User name or mail address').fill('PERSON-17');
    await form.getByRole('button', { name: 'Search' }).click();
    await expect.poll(() => rowsOf(page).count()).toBe(10);
    await page.goBack();
    await page.getByText('Page 2 of 3').waitFor();
    await page.goto(`${site.origin()}${AT}?text=nobody`);
    await page.getByText('Nobody is found.').waitFor();
    await page.getByRole('search').getByLabel('People who are').selectOption('administrators');
    await page.getByText('Nobody is found.').waitFor();
    await form.getByLabel('User name or mail address').fill('');
    await form.getByRole('button', { name: 'Search' }).click();
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    // The own account is for another administrator.
    expect(await rowsOf(page).getByRole('button').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('are suspended, which refuses their tokens at once, and come back', async () => {
    const token = await tokenFor(await addPerson('mallory'));
    const { page, problems } = await site.openSignedIn(`${AT}?text=mallory`);
    expect(await statusOf(token)).toBe(200);
    await choose(page, 'mallory', 'Suspend');
    await page.getByText('every session ends').waitFor();
    expect(await faultsInVariants(page, 'suspending a person')).toEqual({});
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend', exact: true }).click();
    await rowsOf(page).getByText('suspended').waitFor();
    expect(await statusOf(token)).toBe(401);
    await press(page, 'mallory', 'Unsuspend');
    await rowsOf(page).getByText('active').waitFor();
    expect(await statusOf(token)).toBe(200);
    expect(problems).toEqual([]);
  });

  test('have a menu that is worked by keyboard, which gives the focus back', async () => {
    await addPerson('bob');
    const { page, problems } = await site.openSignedIn(`${AT}?text=bob`);
    const more = page.getByRole('button', { name: 'More actions: bob' });
    await more.focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('menuitem', { name: 'Make administrator' })
      .and(page.locator(':focus'))
      .waitFor();
    expect(await faultsInVariants(page, 'the actions for a person')).toEqual({});
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByLabel('Type bob to go on').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await more.and(page.locator(':focus')).waitFor();
    expect(problems).toEqual([]);
  });

  test('are added and renamed, and a name that somebody has is refused', async () => {
    await addPerson('walter');
    const { page, problems } = await site.openSignedIn(`${AT}?text=peggy`);
    await page.getByText('Nobody is found.').waitFor();
    await page.getByRole('button', { name: 'Add person' }).click();
    const dialog = page.getByRole('dialog');
    expect(await faultsInVariants(page, 'adding a person')).toEqual({});
    await dialog.getByLabel('User name').fill('Walter');
    await dialog.getByLabel('Mail address').fill('peggy@b.example');
    await dialog.getByRole('button', { name: 'Add the account' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'already been taken' }).waitFor();
    // The other field keeps its text.
    expect(await dialog.getByLabel('Mail address').inputValue()).toBe('peggy@b.example');
    await dialog.getByLabel('User name').fill('peggy');
    await dialog.getByRole('button', { name: 'Add the account' }).click();
    await rowsOf(page).getByText('peggy@b.example').waitFor();

    await page.getByRole('button', { name: 'Edit: peggy' }).click();
    await dialog.getByLabel('User name').fill('walter');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'already been taken' }).waitFor();
    await dialog.getByLabel('User name').fill('margaret');
    await dialog.getByRole('button', { name: 'Save' }).click();
    // The mail address is still found.
    await rowsOf(page).getByText('margaret', { exact: false }).waitFor();
    const { data } = await site.workspaces('GET', 'admin/users?q=margaret');
    expect(data[0].attributes).toMatchObject({ username: 'margaret', email: 'peggy@b.example' });
    expect(problems).toEqual([]);
  });

  test('that another administrator has changed meanwhile are shown as they are', async () => {
    const id = await addPerson('oscar');
    const { page } = await site.openSignedIn(`${AT}?text=oscar`);
    await choose(page, 'oscar', 'Suspend');
    await site.workspaces('POST', `admin/users/${id}/actions/suspend`);
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByText('the user is suspended already').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await press(page, 'oscar', 'Remove passkeys', 'Remove them');
    await page.getByText('the user has no passkey').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'More actions: oscar' }).click();
    await page.getByRole('menuitem', { name: 'Unsuspend' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'Suspend', exact: true }).count()).toBe(0);
  });

  test('become administrators and cease to be, and are deleted by their name', async () => {
    const id = await addPerson('trent');
    const token = await tokenFor(id);
    const own = { workspaces: token, secrets: site.rootToken() };
    const { page } = await site.openSignedIn(`${AT}?text=trent`);
    await press(page, 'trent', 'Make administrator');
    await rowsOf(page).getByText('administrator', { exact: true }).waitFor();
    const other = await site.openSignedIn(AT, own);
    await expect.poll(() => rowsOf(other.page).count()).toBe(50);
    await press(page, 'trent', 'Remove administration', 'Remove it');
    await expect
      .poll(() => rowsOf(page).getByText('administrator', { exact: true }).count())
      .toBe(0);
    // The page of somebody who is administrator no more refuses what it still offers.
    await press(other.page, 'person-100', 'Suspend');
    await other.page.getByRole('dialog').getByRole('alert').waitFor();
    await choose(page, 'trent', 'Delete');
    await page.getByLabel('Type trent to go on').fill('trent');
    await page.getByRole('button', { name: 'Delete it' }).click();
    await page.getByText('Nobody is found.').waitFor();
    expect(await statusOf(token)).toBe(401);
  });

  test('are shown to nobody else', async () => {
    const token = await tokenFor(await addPerson('eve'));
    const { page } = await site.openSignedIn('/app', { workspaces: token });
    const pages = page.getByRole('navigation');
    await pages.getByRole('link', { name: 'Account' }).waitFor();
    expect(await pages.getByRole('link', { name: 'People' }).count()).toBe(0);
    await page.goto(`${site.origin()}${AT}`);
    await page.getByRole('alert').first().waitFor();
    expect(await rowsOf(page).count()).toBe(0);
  });
});
