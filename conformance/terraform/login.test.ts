/** `terraform login` with the browser of its user, as the tool documents the protocol. */
import { findFreePort } from '@keelson/testkit';
import { type Browser, launchChromium, openPage, type Page } from '@keelson/testkit/chromium';
import { CLIENT, startOpenIdProvider } from '@keelson/testkit/openid-provider';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AUTHORIZATION, approveLogin, newStranger, openLogin } from './command-login.ts';
import { type Installation, install, type RunningCommand } from './terraform-cli.ts';

describe('terraform login', () => {
  let installation: Installation;
  let browser: Browser;
  beforeAll(async () => {
    const port = String(await findFreePort());
    installation = await install({
      KEELSON_HTTPS_PORT: port,
      KEELSON_PUBLIC_URL: `https://localhost:${port}`,
      // A provider of identities is there.
      KEELSON_OUTBOUND_RANGES: '127.0.0.1',
    });
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await installation[Symbol.asyncDispose]();
  });

  const open = async (command: RunningCommand): Promise<Page> =>
    openLogin(browser, await command.matched(AUTHORIZATION), installation.token);

  test('opens the console, where the user signs in and approves, and stores a token that logout removes', async () => {
    const { host, token } = installation;
    const { home, login, storedToken } = await newStranger(installation, 'home');
    const command = login();
    const page = await open(command);
    await page.getByText('asks for an API token of your account admin').waitFor();
    await approveLogin(page);
    const { code, output } = await command.outcome;
    expect(output).toContain('Terraform has obtained and saved an API token.');
    expect(code).toBe(0);

    const own = await storedToken();
    expect(own).toMatch(/\.atlasv1\./);
    expect(own).not.toBe(token);
    expect(output).not.toContain(own);
    const { data } = await installation.call('GET', '/account/details');
    const { list } = await installation.call('GET', `/users/${data.id}/authentication-tokens`);
    expect(list.map(({ attributes }) => attributes['description'])).toContainEqual(
      expect.stringMatching(/^terraform login \(\d+\.\d+\.\d+\), \d{4}-\d\d-\d\d \d\d:\d\d UTC$/),
    );
    const logout = await installation.asStranger(home, [], 'logout', host).outcome;
    expect([logout.code, await storedToken()]).toEqual([0, undefined]);
  });

  test('stores nothing when the user refuses, and says so', async () => {
    const { login, storedToken } = await newStranger(installation, 'another-home');
    const command = login();
    const page = await open(command);
    await page.getByRole('button', { name: 'Refuse' }).click();
    const { code, output } = await command.outcome;
    expect(code).toBe(1);
    expect(output.replaceAll(/\s+/g, ' ')).toContain('the user has refused');
    await expect(storedToken()).rejects.toThrow('ENOENT');
  });

  test('gives the token of whoever signs in at a provider of identities', async () => {
    const { host } = installation;
    await using provider = await startOpenIdProvider();
    provider.register(`https://${host}/app/sign-in/return`);
    const settings = {
      enabled: true,
      title: 'the directory',
      issuer: provider.issuer,
      'client-id': CLIENT.oidc_client_id,
      'client-secret': CLIENT.oidc_client_secret,
      scopes: ['email'],
      'creates-users': true,
    };
    const data = { type: 'sso-settings', attributes: settings };
    expect((await installation.call('PATCH', '/admin/sso-settings', { data })).status).toBe(200);
    const { login, storedToken } = await newStranger(installation, 'home-of-grace');
    const command = login();
    const address = await command.matched(AUTHORIZATION);
    const { page } = await openPage(browser, address, { ignoreHTTPSErrors: true });
    await page.getByRole('button', { name: 'Continue with the directory' }).click();
    await page.locator('input[name=login]').fill('grace');
    await page.locator('input[name=password]').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('an API token of your account grace').waitFor();
    await approveLogin(page);
    expect((await command.outcome).code).toBe(0);
    const token = await storedToken();
    const own = await fetch(`${installation.http}/api/v2/account/details`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { data: account } = (await own.json()) as { readonly data: Account };
    expect(account.attributes).toMatchObject({ username: 'grace', 'is-sso-login': true });
  });
});

interface Account {
  readonly attributes: Readonly<Record<string, unknown>>;
}
