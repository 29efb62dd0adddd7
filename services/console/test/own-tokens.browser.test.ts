/** Where somebody is signed in to certificates and administration: listed, and ended from another place. */
import { tokensOf } from '@keelson/testkit/browser-session';
import type { Page } from '@keelson/testkit/chromium';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();
const PASSWORD = 'correct horse';
const ENDED = 'The token has expired or was revoked. Sign in again to go on.';

const addUsers = async (names: readonly string[], namespace = ''): Promise<void> => {
  const config = { listing_visibility: 'unauth' };
  await site.secrets('sys/auth/people', { type: 'userpass', config }, namespace);
  for (const name of names)
    await site.secrets(`auth/people/users/${name}`, { password: PASSWORD }, namespace);
};

const logIn = async (name: string): Promise<string> =>
  (await site.secrets(`auth/people/login/${name}`, { password: PASSWORD })).auth.client_token;

const signInAs = async (page: Page, name: string): Promise<void> => {
  const form = page.getByRole('form', { name: 'Sign in with a password' });
  await form.getByLabel('User name').fill(name);
  await form.getByLabel('Password').fill(PASSWORD);
  await form.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor();
};

const open = async (name: string) => {
  const opened = await site.open('/ui/tokens');
  await signInAs(opened.page, name);
  await opened.page.getByText('(this session)').waitFor();
  return opened;
};

const rowsOf = (page: Page) => page.getByRole('table', { name: 'Your tokens' }).locator('tbody tr');

const statusOf = async (token: string): Promise<number> =>
  (
    await fetch(`${site.origin()}/v1/auth/token/lookup-self`, {
      headers: { 'x-service-token': token },
    })
  ).status;

beforeAll(async () => {
  await addUsers(['ada', 'bob', 'cleo', 'dora', 'eve', 'fred']);
  await site.secrets('sys/namespaces/team', {});
  await addUsers(['ada'], 'team');
}, PATIENCE_MS);

describe('own tokens', { timeout: PATIENCE_MS }, () => {
  test('are listed where somebody is signed in, and a second session that is ended is signed out', async () => {
    const second = await open('ada');
    const { page, problems } = await open('ada');
    await expect.poll(() => rowsOf(page).count()).toBe(2);
    // Neither the tokens of the namespace nor those of other persons.
    expect(await page.getByText('Active tokens').count()).toBe(0);
    expect(await faultsInVariants(page, 'own tokens')).toEqual({});
    await page.getByRole('button', { name: /^End people-ada/ }).click();
    await page.getByRole('button', { name: 'End it' }).click();
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    await second.page.getByRole('link', { name: 'Policies' }).first().click();
    await second.page.getByText(ENDED).waitFor();
    expect(problems).toEqual([]);
  });

  test('end with this session, which asks to sign in again', async () => {
    const { page } = await open('bob');
    const { service: token = '' } = await tokensOf(page);
    await page.getByRole('button', { name: 'End this session' }).click();
    await page.getByText('you are asked to sign in again').waitFor();
    await page.getByRole('button', { name: 'End it' }).click();
    await page.getByLabel('User name').waitFor();
    expect(await statusOf(token)).toBe(403);
  });

  test('101 and more come page by page, and all others end at once', async () => {
    const others = await Promise.all(Array.from({ length: 101 }, () => logIn('cleo')));
    const { page, problems } = await open('cleo');
    await expect.poll(() => rowsOf(page).count()).toBe(50);
    const earlier = page.getByRole('button', { name: 'Show earlier ones' });
    await earlier.click();
    await page.getByRole('button', { name: 'Show the latest' }).waitFor();
    await expect.poll(() => page.getByText('(this session)').count()).toBe(0);
    await earlier.click();
    await expect.poll(() => rowsOf(page).count()).toBeLessThanOrEqual(2);
    expect(await earlier.count()).toBe(0);
    await page.getByRole('button', { name: 'Show the latest' }).click();
    await page.getByRole('button', { name: 'End all others' }).click();
    await page.getByRole('button', { name: 'End them' }).click();
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    expect(new Set(await Promise.all(others.map(statusOf)))).toEqual(new Set([403]));
    expect(problems).toEqual([]);
  });

  test('are not ended any more once the token was revoked', async () => {
    const other = await logIn('dora');
    const { page } = await open('dora');
    await page.getByRole('button', { name: 'End all others' }).click();
    const { service: token = '' } = await tokensOf(page);
    await site.secrets('auth/token/revoke', { token });
    await page.getByRole('button', { name: 'End them' }).click();
    await page.getByText(ENDED).waitFor();
    expect(await statusOf(other)).toBe(200);
  });

  test('of a namespace are shown there, and with the sessions of the account', async () => {
    await logIn('ada');
    const { auth } = await site.secrets('auth/people/login/ada', { password: PASSWORD }, 'team');
    const { page, problems } = await site.openSignedIn('/app/settings/account', {
      secrets: auth.client_token,
      namespace: 'team',
    });
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    await rowsOf(page).getByText('team/', { exact: true }).waitFor();
    expect(await faultsInVariants(page, 'account with own tokens')).toEqual({});
    expect(problems).toEqual([]);
  });

  test('are shown and ended in a namespace below the one of the sign-in, where little is allowed', async () => {
    const other = await logIn('fred');
    const { page, problems } = await site.openSignedIn('/ui/tokens', {
      secrets: await logIn('fred'),
      namespace: 'team',
    });
    await expect.poll(() => rowsOf(page).count()).toBe(2);
    // The policies refuse much below the namespace of the sign-in, and the session goes on.
    await page.goto(`${site.origin()}/ui/policies`);
    await page.getByRole('heading', { name: 'Policies', level: 1 }).waitFor();
    await page.goto(`${site.origin()}/ui/tokens`);
    await page.getByText('(this session)').waitFor();
    await page.getByRole('button', { name: /^End people-fred/ }).click();
    await page.getByRole('button', { name: 'End it' }).click();
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    expect(await statusOf(other)).toBe(403);
    expect(await page.getByText(ENDED).count()).toBe(0);
    await page.getByRole('button', { name: 'End this session' }).click();
    await page.getByRole('button', { name: 'End it' }).click();
    await page.getByLabel('User name').waitFor();
    expect(problems).toEqual([]);
  });

  test('are listed without buttons for whoever may list them and end none', async () => {
    await site.secrets('auth/people/users/gwen', {
      password: PASSWORD,
      token_no_default_policy: true,
      token_policies: ['looking'],
    });
    const policy = `path "sys/capabilities-self" { capabilities = ["update"] }
      path "auth/token/own" { capabilities = ["read"] }`;
    await site.secrets('sys/policies/acl/looking', { policy });
    const { page, problems } = await site.openSignedIn('/ui/tokens', {
      secrets: await logIn('gwen'),
    });
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    expect(await page.getByRole('button', { name: /^End/ }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('of nobody are not offered, nor to whoever may not list them', async () => {
    await site.secrets('auth/people/users/eve', {
      password: PASSWORD,
      token_no_default_policy: true,
      token_policies: ['asking'],
    });
    const policy = 'path "sys/capabilities-self" { capabilities = ["update"] }';
    await site.secrets('sys/policies/acl/asking', { policy });
    const callers = [
      { secrets: site.rootToken(), sees: 'Active tokens' },
      { secrets: await logIn('eve'), sees: 'Your own tokens, and' },
    ];
    for (const { secrets, sees } of callers) {
      const { page } = await site.openSignedIn('/ui/tokens', { secrets });
      await page.getByText(sees).waitFor();
      expect(await page.getByText('Your tokens').count()).toBe(0);
    }
  });
});
