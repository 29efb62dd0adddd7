/** The recipe of docs/signing-in.md for passkeys of accounts, in Chromium with a virtual authenticator. */
import { documentedJson, publicAddress, startMailServer } from '@keelson/testkit';
import { tokensOf } from '@keelson/testkit/browser-session';
import type { Page } from '@keelson/testkit/chromium';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const mail = await startMailServer();
const address = await publicAddress();
/** Browsers have passkeys for names of hosts only. */
const publicUrl = (address['KEELSON_PUBLIC_URL'] ?? '').replace('127.0.0.1', 'localhost');
const site = useConsole({
  env: {
    ...address,
    KEELSON_PUBLIC_URL: publicUrl,
    KEELSON_WORKSPACE_SMTP_URL: mail.url,
    KEELSON_WORKSPACE_MAIL_FROM: 'keelson@keelson.example',
  },
});
afterAll(() => mail[Symbol.asyncDispose]());

const PASSWORD = 'three words and a 4th';
let read = 0;

/** The link of the next mail. */
const nextLink = async (): Promise<string> => {
  const text = (await mail.mail(read)).replaceAll('=\r\n', '').replaceAll('=3D', '=');
  read += 1;
  return /(http:\/\/localhost:\d+\/app\/\S+#\S+)/.exec(text)?.[1] ?? '';
};

const attributes = (type: string, values: object) => ({ data: { type, attributes: values } });

const invite = async (email: string): Promise<string> => {
  await site.workspaces(
    'POST',
    'organizations/acme/organization-memberships',
    attributes('organization-memberships', { email }),
  );
  return nextLink();
};

/** Plugs in a device with which the person of the page is verified at once. */
const addAuthenticator = async (page: Page): Promise<void> => {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('WebAuthn.enable');
  await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
};

const openAt = async (url: string): Promise<Page> => {
  const { page } = await site.open('/docs');
  await addAuthenticator(page);
  await page.goto(url);
  return page;
};

const ownName = async (page: Page): Promise<string> => {
  const { api } = await tokensOf(page);
  const own = await site.workspaces('GET', 'account/details', undefined, api);
  return own.data.attributes.username;
};

const signOut = async (page: Page): Promise<void> => {
  const ended = page.waitForResponse(/account\/session$/);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await ended;
};

const signIn = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Continue with a passkey' }).click();

const formsOf = (page: Page): Promise<readonly (string | null)[]> =>
  page
    .locator('main form')
    .evaluateAll((forms: { ariaLabel: string | null }[]) =>
      forms.map(({ ariaLabel }) => ariaLabel),
    );

beforeAll(async () => {
  await site.workspaces(
    'PATCH',
    'admin/sign-in-settings',
    attributes('sign-in-settings', { 'passwords-enabled': true }),
  );
  const recipe = documentedJson('docs/signing-in.md', 'With a passkey');
  await site.workspaces('PATCH', 'admin/sign-in-settings', recipe as object);
  await site.workspaces(
    'POST',
    'organizations',
    attributes('organizations', { name: 'acme', email: 'a@b.example' }),
  );
}, PATIENCE_MS);

describe('a passkey of an account', { timeout: PATIENCE_MS }, () => {
  test('is made at the link of an invitation, and signs in by one click without a name', async () => {
    const page = await openAt(await invite('ada@keelson.example'));
    const button = page.getByRole('button', { name: 'Accept with a passkey' });
    await button.waitFor();
    expect(await faultsInVariants(page, 'invitation with a passkey')).toEqual({});
    await button.click();
    await page.getByRole('link', { name: 'acme' }).first().waitFor();
    await signOut(page);
    await page.getByRole('button', { name: 'Continue with a passkey' }).waitFor();
    expect(await faultsInVariants(page, 'sign-in with a passkey')).toEqual({});
    await signIn(page);
    await page.getByRole('link', { name: 'acme' }).first().waitFor();
    expect(await ownName(page)).toBe('ada');
    // It is the only way in, and a further one is confirmed by it.
    await page.goto(`${publicUrl}/app/settings/account`);
    await page.getByText('The account has none.').waitFor();
    expect(await formsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove first passkey' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('the passkey is the only way in which you sign in').waitFor();
  });

  test('is added, renamed and removed on the page of the account, with the password', async () => {
    const page = await openAt(await invite('grace@keelson.example'));
    const form = page.getByRole('form', { name: 'Accept with a password' });
    await form.getByLabel('New password').fill(PASSWORD);
    await form.getByRole('button', { name: 'Accept and sign in' }).click();
    await page.getByRole('link', { name: 'acme' }).first().waitFor();
    await page.goto(`${publicUrl}/app/settings/account`);
    await page.getByText('You have no passkey yet.').waitFor();
    const add = async (password: string) => {
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      const dialog = page.getByRole('dialog', { name: 'Add a passkey' });
      await dialog.getByLabel('Name by which you know it').fill('laptop');
      await dialog.getByLabel('Your password').fill(password);
      await dialog.getByRole('button', { name: 'Go on in the browser' }).click();
    };
    await add('wrong');
    await page.getByText('is not the password of the account').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await add(PASSWORD);
    await page.getByRole('button', { name: 'Rename laptop' }).click();
    await page.getByLabel('Name by which you know it').fill('old laptop');
    await page.getByRole('button', { name: 'Rename it' }).click();
    await page.getByRole('button', { name: 'Rename old laptop' }).waitFor();
    expect(await faultsInVariants(page, 'account with a passkey')).toEqual({});
    await signOut(page);
    await signIn(page);
    await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor();
    expect([await ownName(page), await page.getByText('never here').count()]).toEqual(['grace', 0]);
    await page.getByRole('button', { name: 'Remove old laptop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('You have no passkey yet.').waitFor();
    await signOut(page);
    await signIn(page);
    await page.getByText('the passkey is not accepted').waitFor();
  });

  test('that is not there is told of, and one that is lost goes with a new password by mail', async () => {
    const page = await openAt(await invite('joan@keelson.example'));
    await page.getByRole('button', { name: 'Accept with a passkey' }).click();
    await page.getByRole('link', { name: 'acme' }).first().waitFor();
    await signOut(page);
    const other = await openAt(`${publicUrl}/app`);
    await signIn(other);
    await other.getByText('No passkey was used:').waitFor();
    await other.getByRole('link', { name: 'Forgotten the password?' }).click();
    await other.getByLabel('Mail address of your account').fill('joan@keelson.example');
    await other.getByRole('button', { name: 'Send me a link' }).click();
    await other.getByText('a mail with a link is on its way').waitFor();
    const reset = await openAt(await nextLink());
    await reset.getByLabel('I have lost my passkeys').check();
    await reset.getByRole('textbox', { name: 'New password' }).fill(PASSWORD);
    expect(await faultsInVariants(reset, 'new password without passkeys')).toEqual({});
    await reset.getByRole('button', { name: 'Set the password' }).click();
    await reset.getByText('The password is set').waitFor();
    await signIn(page);
    await page.getByText('the passkey is not accepted').waitFor();
  });
});

test('an API token is offered no change of an account that takes a sign-in', async () => {
  const { page, problems } = await site.openSignedIn('/app/settings/account');
  await page.getByText('You use an API token.').waitFor();
  await page.getByText('You have no passkey yet.').waitFor();
  const buttons = await page.locator('main').getByRole('button').allInnerTexts();
  expect(buttons).toEqual(['Commands', 'End all sessions']);
  expect(await formsOf(page)).toEqual([]);
  expect(await faultsInVariants(page, 'account with an API token')).toEqual({});
  expect(problems).toEqual([]);
});
