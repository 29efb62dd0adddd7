/**
 * Logins at a provider of OpenID Connect whose browser does not return to a program with parameters in its address: with
 * a form, to Keelson itself, and not at all.
 */
import type { Page } from '@keelson/testkit/chromium';
import { CLIENT, type OpenIdProvider, startOpenIdProvider } from '@keelson/testkit/openid-provider';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';

const site = useConsole({ env: { KEELSON_OUTBOUND_RANGES: '127.0.0.1' } });
let provider: OpenIdProvider;

const NONCE = 'a nonce of the test';
const POLICY = 'path "sys/policies/*" { capabilities = ["read", "list"] }';

const callbackOf = (mount: string): string => `${site.origin()}/v1/auth/${mount}/oidc/callback`;

const addMount = async (mount: string, config: object, role: object): Promise<void> => {
  const settings = { listing_visibility: 'unauth' };
  await site.secrets(`sys/auth/${mount}`, { type: 'oidc', description: mount, config: settings });
  const known = { ...CLIENT, oidc_discovery_url: provider.issuer, default_role: 'people' };
  await site.secrets(`auth/${mount}/config`, { ...known, ...config });
  const bound = { user_claim: 'sub', bound_claims: { sub: ['grace'] }, token_policies: ['reader'] };
  await site.secrets(`auth/${mount}/role/people`, { ...bound, ...role });
};

/** The answer to a request without a token. */
const ask = async (path: string, body: object) => {
  const response = await fetch(`${site.origin()}/v1/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as {
    readonly data: { readonly auth_url: string; readonly state: string };
    readonly auth?: { readonly metadata: object; readonly policies: readonly string[] };
    readonly errors?: readonly string[];
  };
  return { status: response.status, body: answer };
};

/** Opens a page outside of the console. */
const openAt = async (url: string) => {
  const opened = await site.open('/ui/sign-in/return');
  await opened.page.goto(url);
  return opened;
};

const logInAtProvider = async (page: Page, name = 'grace'): Promise<void> => {
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
};

beforeAll(async () => {
  provider = await startOpenIdProvider();
  provider.register(...['forms', 'straight', 'devices'].map(callbackOf));
  await site.secrets('sys/policies/acl/reader', { policy: POLICY });
  const console_ = `${site.origin()}/ui/sign-in/return`;
  await addMount('forms', { oidc_response_mode: 'form_post' }, { allowed_redirect_uris: console_ });
  const direct = { callback_mode: 'direct', allowed_redirect_uris: callbackOf('straight') };
  await addMount('straight', {}, direct);
  await addMount('devices', {}, { callback_mode: 'device' });
}, PATIENCE_MS);
afterAll(() => provider?.[Symbol.asyncDispose]());

describe('a login at a provider', { timeout: PATIENCE_MS }, () => {
  test('that posts a form signs in to the console', async () => {
    const { page } = await site.open('/ui/policies');
    await page.getByRole('button', { name: 'Continue with forms' }).click();
    await logInAtProvider(page);
    await page.getByRole('link', { name: 'reader' }).waitFor();
    await page.getByText('forms-grace').waitFor();
    expect(new URL(page.url()).search).toBe('');
  });

  test('that ends at Keelson asks the user, and the program gets the token', async () => {
    const { body: begun } = await ask('auth/straight/oidc/auth_url', {
      redirect_uri: callbackOf('straight'),
      client_nonce: NONCE,
    });
    const poll = () =>
      ask('auth/straight/oidc/poll', { state: begun.data.state, client_nonce: NONCE });
    const { page } = await openAt(begun.data.auth_url);
    await logInAtProvider(page);
    await page.getByRole('heading', { name: 'Do you want to sign in?' }).waitFor();
    expect((await poll()).body.errors).toEqual(['authorization_pending']);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
    const { status, body } = await poll();
    expect([status, body.auth?.metadata, body.auth?.policies]).toEqual([
      200,
      { role: 'people' },
      ['default', 'reader'],
    ]);
    expect((await poll()).status).toBe(400);
  });

  test('of a device ends when its user has typed the code', async () => {
    const { body: begun } = await ask('auth/devices/oidc/auth_url', { client_nonce: NONCE });
    const poll = () =>
      ask('auth/devices/oidc/poll', { state: begun.data.state, client_nonce: NONCE });
    expect((await poll()).body.errors).toEqual(['authorization_pending']);
    const { page } = await openAt(begun.data.auth_url);
    await page.getByRole('button', { name: 'Continue' }).click();
    await logInAtProvider(page);
    await page.getByText('Sign-in Success').waitFor();
    const { status, body } = await poll();
    expect([status, body.auth?.metadata]).toEqual([200, { role: 'people' }]);
    expect((await poll()).body.errors).toEqual(['expired or missing OAuth state']);
  });

  test('whose claims the role does not allow says so in the browser', async () => {
    const { body: begun } = await ask('auth/straight/oidc/auth_url', {
      redirect_uri: callbackOf('straight'),
      client_nonce: NONCE,
    });
    const { page } = await openAt(begun.data.auth_url);
    await logInAtProvider(page, 'mallory');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    expect(await page.locator('main').innerText()).toContain(
      'does not match any associated bound claim values',
    );
  });
});
