/** The ways to sign in that an installation offers to everybody. */

import { tokensOf } from '@keelson/testkit/browser-session';
import type { Page } from '@keelson/testkit/chromium';
import { DIRECTORY_BASE, DIRECTORY_READER, startDirectory } from '@keelson/testkit/ldap-directory';
import { CLIENT, type OpenIdProvider, startOpenIdProvider } from '@keelson/testkit/openid-provider';
import { URI } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole({ env: { KEELSON_OUTBOUND_RANGES: '127.0.0.1' } });
let provider: OpenIdProvider;

/** Lets one person in. */
const ROLE = { role_type: 'oidc', user_claim: 'sub', bound_claims: { sub: ['grace'] } } as const;

const VISIBLE = { listing_visibility: 'unauth' } as const;
const PASSWORD = 'correct horse';
const POLICY = 'path "sys/policies/*" { capabilities = ["read", "list"] }';

/** Creates a user in a new mount, which everybody sees. */
const addUsers = async (path: string, description: string, namespace = ''): Promise<void> => {
  const mount = { type: 'userpass', description, config: VISIBLE };
  await site.secrets(`sys/auth/${path}`, mount, namespace);
  const user = { password: PASSWORD, token_policies: ['reader'] };
  await site.secrets(`auth/${path}/users/ada`, user, namespace);
  await site.secrets('sys/policies/acl/reader', { policy: POLICY }, namespace);
};

const fillPassword = async (page: Page, password: string, name = 'ada'): Promise<void> => {
  const form = page.getByRole('form', { name: 'Sign in with a password' });
  await form.getByLabel('User name').fill(name);
  await form.getByLabel('Password').fill(password);
  await form.getByRole('button', { name: 'Sign in' }).click();
};

type Mounts = Readonly<Record<string, { readonly accessor: string }>>;

/** Grace, at a provider that does not know her yet. */
const logInAtProvider = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Continue with the provider' }).click();
  await page.locator('input[name=login]').fill('grace');
  await page.locator('input[name=password]').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
};

const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { name, level: 1 }).waitFor();

const statusOf = async (token: string): Promise<number> =>
  (
    await fetch(`${site.origin()}/v1/auth/token/lookup-self`, {
      headers: { 'x-service-token': token },
    })
  ).status;

beforeAll(async () => {
  provider = await startOpenIdProvider();
  await addUsers('people', 'the people of the team');
  await site.secrets('sys/auth/hidden', { type: 'userpass', description: 'hidden' });
  await site.secrets('sys/auth/sso', {
    type: 'oidc',
    description: 'the provider',
    config: VISIBLE,
  });
  const redirectUri = `${site.origin()}/ui/sign-in/return`;
  provider.register(redirectUri);
  await site.secrets('auth/sso/config', {
    ...CLIENT,
    oidc_discovery_url: provider.issuer,
    default_role: 'people',
  });
  await site.secrets('auth/sso/role/people', {
    ...ROLE,
    allowed_redirect_uris: [redirectUri],
    token_policies: ['reader'],
  });
}, PATIENCE_MS);
afterAll(() => provider?.[Symbol.asyncDispose]());

describe('sign-in', { timeout: PATIENCE_MS }, () => {
  test('offers what is shown to everybody, takes a name and a password, refuses a wrong one, and ends the token of the login with the session', async () => {
    const { page, problems } = await site.open('/ui/policies');
    await page.getByRole('button', { name: 'Continue with the provider' }).waitFor();
    expect(await page.getByText('hidden').count()).toBe(0);
    expect(await faultsInVariants(page, 'ways to sign in')).toEqual({});
    await fillPassword(page, 'wrong');
    await page.getByText('invalid username or password').waitFor();
    await fillPassword(page, PASSWORD);
    await heading(page, 'Policies');
    await page.getByRole('link', { name: 'reader' }).waitFor();
    await page.getByText('people-ada').waitFor();
    const { service: token = '' } = await tokensOf(page);
    expect(await statusOf(token)).toBe(200);
    const ended = page.waitForResponse(/revoke-self/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await ended;
    expect(await statusOf(token)).toBe(403);
    expect(problems).toEqual([]);
  });

  test('is ended by an administrator, wherever the person has signed in', async () => {
    const tokens: string[] = [];
    for (const name of ['first browser', 'second browser']) {
      const { page } = await site.open('/ui/policies');
      await fillPassword(page, PASSWORD);
      await heading(page, 'Policies');
      const { service = '' } = await tokensOf(page);
      expect([name, await statusOf(service)]).toEqual([name, 200]);
      tokens.push(service);
    }
    const { page, problems } = await site.openSignedIn('/ui/tokens');
    await page.getByRole('button', { name: 'Sign a person out' }).click();
    await page.getByLabel('User name').fill('ada');
    await page.getByLabel('Signs in by').selectOption('people/');
    expect(await faultsInVariants(page, 'sign a person out')).toEqual({});
    await page.getByRole('button', { name: 'End the tokens' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await Promise.all(tokens.map(statusOf))).toEqual([403, 403]);
    expect(problems).toEqual([]);
  });

  test('goes to a provider of OpenID Connect and comes back to the page where it began', async () => {
    const { page } = await site.open('/ui/policies');
    await logInAtProvider(page);
    await heading(page, 'Policies');
    // Neither the code nor the state stays in the address or the history.
    expect(new URL(page.url()).search).toBe('');
    expect(await page.evaluate<string>('sessionStorage.getItem("keelson-provider-login")')).toBe(
      null,
    );
  });

  test('asks for the passcode of an authenticator app where a second factor is needed, after a provider too', async () => {
    const { page } = await site.open('/ui/policies');
    // A login of each, so that their entities exist.
    await logInAtProvider(page);
    await heading(page, 'Policies');
    const names = ['people', 'sso'] as const;
    const mounts = (await site.readSecret('sys/auth')).data as Mounts;
    const login = `${site.origin()}/v1/auth/people/login/ada`;
    await fetch(login, { method: 'POST', body: JSON.stringify({ password: PASSWORD }) });
    const method = await site.secrets('identity/mfa/method/totp', { issuer: 'Keelson' });
    const { method_id } = method.data as { readonly method_id: string };
    const apps: Record<string, ReturnType<typeof URI.parse>> = {};
    for (const [index, mount] of names.entries()) {
      const found = await site.secrets('identity/lookup/entity', {
        alias_name: ['ada', 'grace'][index],
        alias_mount_accessor: mounts[`${mount}/`]?.accessor,
      });
      const { id: entity_id } = found.data as { readonly id: string };
      const made = await site.secrets('identity/mfa/method/totp/admin-generate', {
        method_id,
        entity_id,
      });
      apps[mount] = URI.parse((made.data as { readonly url: string }).url);
    }
    await site.secrets('identity/mfa/login-enforcement/all', {
      mfa_method_ids: [method_id],
      auth_method_accessors: names.map((mount) => mounts[`${mount}/`]?.accessor),
    });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await fillPassword(page, PASSWORD);
    await page.getByRole('form', { name: 'Second factor' }).waitFor();
    expect(await faultsInVariants(page, 'second factor')).toEqual({});
    const give = async (passcode: string): Promise<void> => {
      await page.getByLabel('Passcode').fill(passcode);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    };
    expect(await page.getByRole('button', { name: 'Continue with the provider' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Sign in as somebody else' }).click();
    await fillPassword(page, PASSWORD);
    await give('00000000');
    await page.getByText('the passcode is wrong').waitFor();
    await give(apps['people']?.generate() ?? '');
    await page.getByText('people-ada').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    // The provider knows her still, and asks for nothing.
    await page.getByRole('button', { name: 'Continue with the provider' }).click();
    await give(apps['sso']?.generate() ?? '');
    await page.getByText('sso-grace').waitFor();
    await site.secrets('identity/mfa/login-enforcement/all', {
      mfa_method_ids: [method_id],
      auth_method_types: ['cert'],
    });
  });

  test('says why a person whom the provider knows is refused, and lets another one try', async () => {
    const { page } = await site.open();
    await page.getByRole('button', { name: 'Continue with the provider' }).click();
    await page.locator('input[name=login]').fill('mallory');
    await page.locator('input[name=password]').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('You are not signed in:').waitFor();
    await page.getByRole('link', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Continue with the provider' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/ui/');
  });

  test('does not finish a login that another tab or a stranger has begun', async () => {
    const { page, problems } = await site.open('/ui/sign-in/return?state=x&code=y');
    await page.getByText('this tab has not begun to sign in').waitFor();
    expect(await faultsInVariants(page, 'refused sign-in')).toEqual({});
    expect(problems).toEqual([]);
  });

  test('names the address that the role of the provider must allow', async () => {
    await site.secrets('auth/sso/role/elsewhere', {
      ...ROLE,
      allowed_redirect_uris: ['http://localhost:8250/oidc/callback'],
    });
    const config = { ...CLIENT, oidc_discovery_url: provider.issuer };
    await site.secrets('auth/sso/config', { ...config, default_role: 'elsewhere' });
    const { page, problems } = await site.open();
    await page.getByRole('button', { name: 'Continue with the provider' }).click();
    await page.getByText(/allowed_redirect_uris .* must contain .*\/ui\/sign-in\/return/).waitFor();
    await site.secrets('auth/sso/config', { ...config, default_role: 'people' });
    expect(problems).toEqual([]);
  });

  test('has the methods of the namespace that is named, among which one chooses', async () => {
    await site.secrets('sys/namespaces/eu', {});
    for (const path of ['staff', 'guests']) await addUsers(path, `${path} of eu`, 'eu');
    const { page, problems } = await site.open('/ui/policies');
    await page.getByRole('button', { name: 'Continue with the provider' }).waitFor();
    await page.getByLabel('Namespace').fill('eu');
    await page.getByLabel('Namespace').blur();
    await page.getByLabel('Users of').selectOption('staff of eu');
    expect(await page.getByRole('button', { name: 'Continue with the provider' }).count()).toBe(0);
    await fillPassword(page, PASSWORD);
    await page.getByRole('link', { name: 'reader' }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Namespace' }).inputValue()).toBe('eu');
    expect(problems).toEqual([]);
  });

  test('takes a name and a password of a directory, and says so when they are wrong', async () => {
    const directory = await startDirectory();
    try {
      await site.secrets('sys/namespaces/office', {});
      await site.secrets('sys/auth/ldap', { type: 'ldap', config: VISIBLE }, 'office');
      const userdn = `ou=people,${DIRECTORY_BASE}`;
      const config = { url: directory.url, ...DIRECTORY_READER, userdn, userattr: 'uid' };
      await site.secrets('auth/ldap/config', { ...config, token_policies: ['reader'] }, 'office');
      await site.secrets('sys/policies/acl/reader', { policy: POLICY }, 'office');
      const { page, problems } = await site.open('/ui/policies');
      await page.getByLabel('Namespace').fill('office');
      await page.getByLabel('Namespace').blur();
      await page.getByRole('button', { name: 'Continue with the provider' }).waitFor({
        state: 'hidden',
      });
      await fillPassword(page, 'password of bob', 'alice');
      await page.getByText('failed to bind as user').waitFor();
      await fillPassword(page, 'password of alice', 'alice');
      await page.getByRole('link', { name: 'reader' }).waitFor();
      await page.getByText('ldap-alice').waitFor();
      // The refusal of the wrong password.
      expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
    } finally {
      await directory.stop();
    }
  });

  test('keeps a token that is typed while the methods of a namespace are read', async () => {
    const { page, problems } = await site.open('/ui/policies');
    await page.getByRole('button', { name: 'Sign in with a token' }).click();
    await page.getByLabel('Namespace').fill('eu');
    await page.getByLabel('Token').fill(site.rootToken());
    await page.getByLabel('Users of').waitFor();
    await page.getByLabel('Token').press('Enter');
    await page.getByRole('link', { name: 'reader' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('leaves the field in which somebody types while the methods are read', async () => {
    const { page } = await site.open();
    const read = Promise.withResolvers<void>();
    await page.route('**/sys/internal/ui/mounts', async (route) => {
      await read.promise;
      await route.fulfill({ json: { data: { auth: {} } } });
    });
    await page.reload();
    const namespace = page.getByLabel('Namespace');
    await namespace.pressSequentially('team');
    read.resolve();
    await page.getByLabel('Token', { exact: true }).waitFor();
    await page.keyboard.type('/web');
    expect(await namespace.inputValue()).toBe('team/web');
  });

  test('still takes a token, which is last', async () => {
    const { page, problems } = await site.open();
    await page.getByRole('button', { name: 'Sign in with a token' }).click();
    await page.getByLabel('Token').fill(site.rootToken());
    await page.getByLabel('Token').press('Enter');
    await heading(page, 'Overview');
    // A token that somebody pasted is used elsewhere, and stays.
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with a token' }).waitFor();
    await site.readSecret('auth/token/lookup-self');
    expect(problems).toEqual([]);
  });
});
