/** The page on which an administrator of the site says how people sign in. */
import { publicAddress } from '@keelson/testkit';
import { CLIENT, type OpenIdProvider, startOpenIdProvider } from '@keelson/testkit/openid-provider';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole({
  env: { KEELSON_OUTBOUND_RANGES: '127.0.0.1', ...(await publicAddress()) },
});
let provider: OpenIdProvider;

beforeAll(async () => {
  provider = await startOpenIdProvider();
  provider.register(`${site.origin()}/app/sign-in/return`);
}, PATIENCE_MS);
afterAll(() => provider?.[Symbol.asyncDispose]());

const settings = async (name: 'sso' | 'sign-in') =>
  (await site.workspaces('GET', `admin/${name}-settings`)).data.attributes;

describe('the page of sign-ins', { timeout: PATIENCE_MS }, () => {
  test('switches single sign-on on with the mouse, and a person signs in through it', async () => {
    const { page, problems } = await site.openSignedIn('/app');
    await page.getByRole('navigation').getByRole('link', { name: 'Sign-in' }).click();
    await page.getByText('There is no provider yet.').waitFor();
    await page.getByText(`${site.origin()}/app/sign-in/return`, { exact: true }).waitFor();
    expect(await faultsInVariants(page, 'site sign-in, empty')).toEqual({});
    const form = page.getByRole('form', { name: 'Single sign-on' });
    await form.getByLabel('People sign in at the provider').check();
    await form.getByLabel(/^Issuer/).fill('keycloak');
    const save = form.getByRole('button', { name: 'Save single sign-on' });
    await save.click();
    await form.getByRole('alert').filter({ hasText: 'must be an address of the web' }).waitFor();
    await form.getByLabel(/^Issuer/).fill(provider.issuer);
    await form.getByLabel('Name by which people know it').fill('the directory');
    await save.click();
    // Each text is next to the field that it is about, and there is no other.
    const faulty = form.locator('label', { has: page.getByRole('alert') });
    await faulty.nth(1).waitFor();
    expect((await faulty.allInnerTexts()).map((text) => text.split('\n')[0]?.trim())).toEqual([
      'Client ID',
      'Client secret',
    ]);
    expect(await form.locator('.page-problem').count()).toBe(0);
    expect(await faultsInVariants(page, 'site sign-in, refused')).toEqual({});
    expect((await settings('sso')).enabled).toBe(false);

    await form.getByLabel('Client ID').fill(CLIENT.oidc_client_id);
    await form.getByLabel('Client secret').fill(CLIENT.oidc_client_secret);
    await form.getByLabel('Further scopes').fill('email');
    await form.getByLabel('A person without an account').check();
    await save.click();
    await page.getByRole('status').getByText('Saved.', { exact: true }).waitFor();
    await form.getByLabel('Client secret (empty: the stored one stays').waitFor();
    expect(await form.getByLabel('Client secret').inputValue()).toBe('');
    expect(await page.content()).not.toContain(CLIENT.oidc_client_secret);
    expect(await page.getByText('There is no provider yet.').count()).toBe(0);
    expect(await faultsInVariants(page, 'site sign-in')).toEqual({});
    // The two requests that were refused.
    expect(problems.filter((problem) => !problem.includes('422'))).toEqual([]);

    const visitor = await site.open('/app/settings/account');
    await visitor.page.getByRole('button', { name: 'Continue with the directory' }).click();
    await visitor.page.locator('input[name=login]').fill('grace');
    await visitor.page.locator('input[name=password]').fill('any');
    await visitor.page.getByRole('button', { name: 'Sign-in' }).click();
    await visitor.page.getByRole('button', { name: 'Continue' }).click();
    await visitor.page.getByText('(this session)').waitFor();
    // Whoever administers nothing is not offered the page, and learns nothing from its address.
    const pages = visitor.page.getByRole('navigation');
    expect(await pages.getByRole('link', { name: 'Sign-in' }).count()).toBe(0);
    await visitor.page.goto(`${site.origin()}/app/settings/sign-in`);
    await visitor.page.getByRole('alert').first().waitFor();
    expect(await visitor.page.getByRole('form').count()).toBe(0);
  });

  test('keeps the secret of the provider until another one is entered', async () => {
    const { page } = await site.openSignedIn('/app/settings/sign-in');
    const form = page.getByRole('form', { name: 'Single sign-on' });
    await form.getByLabel('Name by which people know it').fill('another name');
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    await form.getByRole('button', { name: 'Save single sign-on' }).click();
    const body = (await sent).postDataJSON() as { data: { attributes: object } };
    expect(body.data.attributes).toEqual({ title: 'another name' });
    await page.getByRole('status').getByText('Saved.', { exact: true }).waitFor();
    expect(await settings('sso')).toMatchObject({
      title: 'another name',
      'has-client-secret': true,
    });
    // Another issuer would be sent the secret of the former one.
    await form.getByLabel(/^Issuer/).fill('https://other.example');
    await form.getByRole('button', { name: 'Save single sign-on' }).click();
    await form.getByRole('alert').filter({ hasText: 'is needed again' }).waitFor();
    const faulty = form.locator('label', { has: page.getByRole('alert') });
    expect(await faulty.innerText()).toContain('Client secret');
    expect((await settings('sso')).issuer).toBe(provider.issuer);
  });

  test('keeps what is entered while it reads what it has stored', async () => {
    const { page } = await site.openSignedIn('/app/settings/sign-in');
    const form = page.getByRole('form', { name: 'Single sign-on' });
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    let isStored = false;
    await page.route('**/api/v2/admin/sso-settings', async (route) => {
      if (route.request().method() === 'PATCH') isStored = true;
      else if (isStored) await held;
      await route.continue();
    });
    const name = form.getByLabel('Name by which people know it');
    await name.fill('renamed');
    await form.getByRole('button', { name: 'Save single sign-on' }).click();
    await page.getByRole('status').getByText('Saved.', { exact: true }).waitFor();
    const issuer = form.getByLabel(/^Issuer/);
    await issuer.fill('https://other.example');
    release();
    await form.getByRole('button', { name: 'Save single sign-on' }).waitFor();
    expect(await issuer.inputValue()).toBe('https://other.example');
    expect(await issuer.and(page.locator(':focus')).count()).toBe(1);
    await form.getByRole('button', { name: 'Undo' }).click();
    expect(await issuer.inputValue()).toBe(provider.issuer);
    expect(await name.inputValue()).toBe('renamed');
  });

  test('lets people sign in with passwords', async () => {
    const { page } = await site.openSignedIn('/app/settings/sign-in');
    const form = page.getByRole('form', { name: 'Passwords, passkeys and sessions' });
    await form.getByLabel('People sign in with a password of their own').check();
    await form.getByLabel('Minutes from a sign-in to its end').fill('45');
    await form.getByRole('button', { name: 'Save passwords, passkeys and sessions' }).click();
    await page.getByRole('status').getByText('Saved.', { exact: true }).waitFor();
    expect(await settings('sign-in')).toEqual({
      'passwords-enabled': true,
      'passkeys-enabled': false,
      'session-minutes': 45,
    });
    const visitor = await site.open('/app');
    await visitor.page.getByRole('textbox', { name: 'Password' }).waitFor();
  });
});
