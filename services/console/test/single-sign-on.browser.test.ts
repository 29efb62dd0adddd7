/** Sign-in to the workspace API at the provider of identities of the site: the recipe of docs/signing-in.md. */
import { documentedJson, publicAddress, startMailServer } from '@keelson/testkit';
import { tokensOf } from '@keelson/testkit/browser-session';
import type { Page } from '@keelson/testkit/chromium';
import { CLIENT, type OpenIdProvider, startOpenIdProvider } from '@keelson/testkit/openid-provider';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchange, pageFor, startCommand } from './command-login.ts';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const mail = await startMailServer();
const site = useConsole({
  env: {
    KEELSON_OUTBOUND_RANGES: '127.0.0.1',
    KEELSON_WORKSPACE_SMTP_URL: mail.url,
    KEELSON_WORKSPACE_MAIL_FROM: 'keelson@keelson.example',
    ...(await publicAddress()),
  },
});
afterAll(() => mail[Symbol.asyncDispose]());
let provider: OpenIdProvider;

const settings = (attributes: object) =>
  site.workspaces('PATCH', 'admin/sso-settings', { data: { type: 'sso-settings', attributes } });

beforeAll(async () => {
  provider = await startOpenIdProvider();
  provider.register(`${site.origin()}/app/sign-in/return`);
  const recipe = documentedJson('docs/signing-in.md', 'At a provider of identities') as {
    readonly data: { readonly attributes: object };
  };
  await settings({
    ...recipe.data.attributes,
    issuer: provider.issuer,
    'client-secret': CLIENT.oidc_client_secret,
    scopes: ['email'],
  });
}, PATIENCE_MS);
afterAll(() => provider?.[Symbol.asyncDispose]());

const goToProvider = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Continue with the directory of the company' }).click();

const answerProvider = async (page: Page, name: string): Promise<void> => {
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
};

const logInAtProvider = async (page: Page, name: string): Promise<void> => {
  await goToProvider(page);
  await answerProvider(page, name);
};

const ownName = async (page: Page): Promise<string> => {
  const { api } = await tokensOf(page);
  const own = await site.workspaces('GET', 'account/details', undefined, api);
  return own.data.attributes.username;
};

describe('single sign-on', { timeout: PATIENCE_MS }, () => {
  test('is offered first, goes to the provider, and comes back to the page where it began', async () => {
    const { page, problems } = await site.open('/app/settings/account');
    await page
      .getByRole('button', { name: 'Continue with the directory of the company' })
      .waitFor();
    expect(await faultsInVariants(page, 'single sign-on')).toEqual({});
    // The pages of the provider, which follow, ask for fonts that are not there.
    expect(problems).toEqual([]);
    await logInAtProvider(page, 'grace');
    await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor();
    await page.getByText('(this session)').waitFor();
    expect(await ownName(page)).toBe('grace');
    // The account has no password that could confirm anything.
    await page.getByRole('button', { name: 'Change the mail address' }).waitFor();
    expect(await page.locator('main form').count()).toBe(0);
    // Neither the code nor the state stays in the address.
    expect(new URL(page.url()).search).toBe('');
    const ended = page.waitForResponse(/account\/session$/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await ended;
  });

  test('opens the account of an invitation to whoever is invited, at its link', async () => {
    const create = (path: string, type: string, attributes: object) =>
      site.workspaces('POST', path, { data: { type, attributes } });
    await create('organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
    const email = 'hedy@keelson.example';
    const invited = 'organizations/acme/organization-memberships';
    await create(invited, 'organization-memberships', { email });
    const text = (await mail.mail(0)).replaceAll('=\r\n', '').replaceAll('=3D', '=');
    const path = /(\/app\/invitation#\S+)/.exec(text)?.[1] ?? '';
    const { page, problems } = await site.open(path);
    await page.getByText(`the account hedy for ${email}`).waitFor();
    expect(await faultsInVariants(page, 'invitation with single sign-on')).toEqual({});
    expect(problems).toEqual([]);
    await page.getByRole('button', { name: 'Accept with the directory of the company' }).click();
    await answerProvider(page, 'hedy');
    await page.getByRole('link', { name: 'acme', exact: true }).first().waitFor();
    expect(await ownName(page)).toBe('hedy');
    await page.locator('.frame-person').getByText('hedy', { exact: true }).waitFor();
  });

  test('says why a person is refused, and lets them try again', async () => {
    await settings({ 'creates-users': false });
    const { page } = await site.open('/app');
    await logInAtProvider(page, 'mallory');
    await page.getByText('You are not signed in: nobody is signed in: the person has no').waitFor();
    expect(await faultsInVariants(page, 'refused single sign-on')).toEqual({});
    await page.getByRole('link', { name: 'Try again' }).click();
    await page
      .getByRole('button', { name: 'Continue with the directory of the company' })
      .waitFor();
    await settings({ 'creates-users': true });
    const stranger = await site.open('/app/sign-in/return?state=x&code=y');
    await stranger.page.getByText('this tab has not begun to sign in').waitFor();
    expect(new URL(page.url()).pathname).toBe('/app');
  });

  test('gives terraform login a token of the person', async () => {
    const { redirectUri, called } = await startCommand();
    const { page } = await site.open(pageFor(redirectUri));
    await logInAtProvider(page, 'ada');
    await page.getByText('an API token of your account ada').waitFor();
    await page.getByRole('button', { name: 'Give the command a token' }).click();
    const code = (await called).get('code') ?? '';
    const { document } = await exchange(site.origin(), code, redirectUri);
    const own = await site.workspaces(
      'GET',
      'account/details',
      undefined,
      document['access_token'],
    );
    expect(own.data.attributes).toMatchObject({ username: 'ada', 'is-sso-login': true });
  });
});
