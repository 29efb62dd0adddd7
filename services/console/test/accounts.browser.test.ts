/** People with passwords of their own: from the invitation to the end of a session. */
import { startMailServer } from '@keelson/testkit';
import { tokensOf } from '@keelson/testkit/browser-session';
import type { Page } from '@keelson/testkit/chromium';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchange, pageFor, startCommand } from './command-login.ts';
import { choose } from './confirm.ts';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const mail = await startMailServer();
const site = useConsole({
  env: {
    KEELSON_WORKSPACE_SMTP_URL: mail.url,
    KEELSON_WORKSPACE_MAIL_FROM: 'keelson@keelson.example',
    KEELSON_PUBLIC_URL: 'https://keelson.example',
  },
});
afterAll(() => mail[Symbol.asyncDispose]());

const PASSWORD = 'three words and a 4th';
const OTHER = 'another four words';
let read = 0;

/** The path with the code in the link of the next mail. */
const nextLink = async (): Promise<string> => {
  const text = (await mail.mail(read)).replaceAll('=\r\n', '').replaceAll('=3D', '=');
  read += 1;
  return /https:\/\/keelson\.example(\/app\/\S+#\S+)/.exec(text)?.[1] ?? '';
};

const attributes = (type: string, values: object) => ({ data: { type, attributes: values } });

const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { name, level: 1 }).waitFor();

const fillPassword = async (page: Page, name: string, password: string): Promise<void> => {
  const form = page.getByRole('form', { name: 'Sign in with a password' });
  await form.getByLabel('User name or mail address').fill(name);
  await form.getByLabel('Password').fill(password);
  await form.getByRole('button', { name: 'Sign in' }).click();
};

const tokenIn = async (page: Page): Promise<string> => (await tokensOf(page)).api ?? '';

const statusOf = async (token: string): Promise<number> =>
  (
    await fetch(`${site.origin()}/api/v2/account/details`, {
      headers: { authorization: `Bearer ${token}` },
    })
  ).status;

/** Invites an address, and follows the link of the mail up to the password of the account. */
const followInvitation = async (email: string) => {
  const invited = attributes('organization-memberships', { email });
  await site.workspaces('POST', 'organizations/acme/organization-memberships', invited);
  const opened = await site.open(await nextLink());
  const form = opened.page.getByRole('form', { name: 'Accept with a password' });
  await form.getByLabel('New password').fill(PASSWORD);
  const button = form.getByRole('button', { name: 'Accept and sign in' });
  return { ...opened, accept: () => button.click() };
};

beforeAll(async () => {
  await site.workspaces(
    'PATCH',
    'admin/sign-in-settings',
    attributes('sign-in-settings', { 'passwords-enabled': true }),
  );
  await site.workspaces(
    'POST',
    'organizations',
    attributes('organizations', { name: 'acme', email: 'a@b.example' }),
  );
}, PATIENCE_MS);

describe('accounts', { timeout: PATIENCE_MS }, () => {
  test('are opened by an invitation with a password, which signs in, and signing out ends the session on the server', async () => {
    const { page, problems, accept } = await followInvitation('ada@keelson.example');
    expect(await faultsInVariants(page, 'invitation with a password')).toEqual({});
    await accept();
    await page.getByRole('link', { name: 'acme' }).first().waitFor();
    const token = await tokenIn(page);
    expect(await statusOf(token)).toBe(200);
    const ended = page.waitForResponse(/account\/session$/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await ended;
    expect(await statusOf(token)).toBe(401);
    expect(problems).toEqual([]);
  });

  test('sign in by name or address, and a wrong password is refused with the reason', async () => {
    const { page } = await site.open('/app');
    await fillPassword(page, 'ada@keelson.example', 'wrong');
    await page.getByText('the name or the password is wrong').waitFor();
    expect(await faultsInVariants(page, 'sign-in to an account')).toEqual({});
    await fillPassword(page, 'ada', PASSWORD);
    await heading(page, 'Organizations');
    // Certificates belong to another API, and this sign-in opens none of them.
    await page.goto(`${site.origin()}/ui/certificates`);
    await heading(page, 'Add another token');
    expect(await page.getByLabel('User name or mail address').count()).toBe(0);
  });

  test('list where they are signed in, and end a session from another, or all at once', async () => {
    const first = await site.open('/app');
    await fillPassword(first.page, 'ada', PASSWORD);
    await heading(first.page, 'Organizations');
    const token = await tokenIn(first.page);
    const { page, problems } = await site.open('/app/settings/account');
    await fillPassword(page, 'ada', PASSWORD);
    await heading(page, 'Account');
    await page.getByText('Chrome on Linux (this session)').waitFor();
    expect(await faultsInVariants(page, 'account')).toEqual({});
    const end = page.getByRole('button', { name: /^End session / });
    for (let left = await end.count(); left > 0; left -= 1) {
      await end.first().click();
      await page.getByRole('button', { name: 'End it' }).click();
      await expect.poll(() => end.count()).toBe(left - 1);
    }
    expect(await statusOf(token)).toBe(401);
    const other = await site.open('/app');
    await fillPassword(other.page, 'ada', PASSWORD);
    await heading(other.page, 'Organizations');
    const tokens = [await tokenIn(other.page), await tokenIn(page)];
    expect(await Promise.all(tokens.map(statusOf))).toEqual([200, 200]);
    await page.getByRole('button', { name: 'End all sessions' }).click();
    await page.getByRole('button', { name: 'End them' }).click();
    await page.getByLabel('User name or mail address').waitFor();
    expect(await Promise.all(tokens.map(statusOf))).toEqual([401, 401]);
    expect(problems).toEqual([]);
  });

  test('are signed out everywhere by an administrator, where a live page is open too', async () => {
    const { data: teams } = await site.workspaces('GET', 'organizations/acme/teams?q=owners');
    await site.workspaces('POST', `teams/${teams[0].id}/relationships/users`, {
      data: [{ type: 'users', id: 'ada' }],
    });
    // Its agents are shown as they come and go.
    const pool = attributes('agent-pools', { name: 'pool' });
    await site.workspaces('POST', 'organizations/acme/agent-pools', pool);
    const live = await site.open('/app/acme/agent-pools');
    await fillPassword(live.page, 'ada', PASSWORD);
    await live.page.getByText('No agent has joined').waitFor();
    const other = await site.open('/app');
    await fillPassword(other.page, 'ada', PASSWORD);
    await heading(other.page, 'Organizations');
    const tokens = [await tokenIn(live.page), await tokenIn(other.page)];
    const { page, problems } = await site.openSignedIn('/app/settings/people?text=ada');
    const end = async (): Promise<void> => {
      await choose(page, 'ada', 'End sessions');
      await page.getByRole('button', { name: 'End them' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await choose(page, 'ada', 'End sessions');
    expect(await faultsInVariants(page, 'ending the sessions of a person')).toEqual({});
    await page.getByRole('button', { name: 'Cancel' }).click();
    await end();
    // Nobody touches the live page.
    await live.page.getByLabel('User name or mail address').waitFor();
    expect(await Promise.all(tokens.map(statusOf))).toEqual([401, 401]);
    await choose(page, 'ada', 'Suspend');
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByText('suspended', { exact: true }).waitFor();
    await end();
    await choose(page, 'ada', 'Unsuspend');
    await page.getByRole('dialog').getByRole('button', { name: 'Unsuspend', exact: true }).click();
    await page.getByText('active', { exact: true }).waitFor();
    await fillPassword(live.page, 'ada', PASSWORD);
    await heading(live.page, 'Agent pools');
    expect(problems).toEqual([]);
  });

  test('set up two-factor authentication, sign in with a passcode or a recovery code, and turn it off', async () => {
    const { page } = await site.open('/app/settings/account');
    await fillPassword(page, 'ada', PASSWORD);
    const begin = page.getByRole('form', { name: 'Set up two-factor authentication' });
    await begin.getByLabel('Password of your account').fill(PASSWORD);
    await begin.getByRole('button', { name: 'Set it up' }).click();
    await page.getByRole('img', { name: 'The key as a QR code' }).waitFor();
    expect(await faultsInVariants(page, 'two-factor enrolment')).toEqual({});
    const key = await page.locator('code.secret').first().innerText();
    const passcodeAt = (ms: number) =>
      new TOTP({ secret: Secret.fromBase32(key) }).generate({ timestamp: ms });
    const verify = page.getByRole('form', { name: 'Verify the app' });
    await verify.getByLabel('Passcode').fill('000000');
    await verify.getByRole('button', { name: 'Turn it on' }).click();
    await page.getByText('The passcode is wrong').waitFor();
    await verify.getByLabel('Passcode').fill(passcodeAt(Date.now()));
    await verify.getByRole('button', { name: 'Turn it on' }).click();
    const codes = page.getByLabel('Recovery codes', { exact: true }).locator('li');
    await codes.first().waitFor();
    const code = await codes.first().innerText();
    await page.getByText('10 of your recovery codes are left').waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await fillPassword(page, 'ada', PASSWORD);
    await page.getByRole('form', { name: 'Second factor' }).waitFor();
    expect(await faultsInVariants(page, 'second factor of an account')).toEqual({});
    // The next period: the passcode of this one is spent.
    await page.getByLabel('Passcode').fill(passcodeAt(Date.now() + 30_000));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await heading(page, 'Account');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await fillPassword(page, 'ada', PASSWORD);
    await page.getByRole('button', { name: 'Use a recovery code' }).click();
    await page.getByLabel('Recovery code', { exact: true }).fill(code);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('9 of your recovery codes are left').waitFor();
    await page.getByRole('button', { name: 'Replace recovery codes' }).click();
    await page.getByLabel('Passcode or recovery code').fill(code);
    await page.getByRole('button', { name: 'Replace them' }).click();
    await page.getByText('is wrong, or has been used already').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const administrator = await site.openSignedIn('/app/settings/people?text=ada');
    await administrator.page.getByText('second factor', { exact: true }).waitFor();
    await choose(administrator.page, 'ada', 'Turn off second factor');
    await administrator.page.getByRole('button', { name: 'Turn it off' }).click();
    const factor = administrator.page.getByText('second factor', { exact: true });
    await expect.poll(() => factor.count()).toBe(0);
    await page.reload();
    await begin.waitFor();
  });

  test('get a new password by the link of a mail', async () => {
    const { page, problems } = await site.open('/app');
    await page.getByRole('link', { name: 'Forgotten the password?' }).click();
    await page.getByLabel('Mail address of your account').fill('ada@keelson.example');
    expect(await faultsInVariants(page, 'asking for a link')).toEqual({});
    await page.getByRole('button', { name: 'Send me a link' }).click();
    await page.getByText('If an account has this address').waitFor();
    const link = await nextLink();
    const followed = await site.open(link);
    const form = followed.page.getByRole('form', { name: 'Set a new password' });
    await form.getByLabel('New password').fill(OTHER);
    expect(await faultsInVariants(followed.page, 'new password')).toEqual({});
    await form.getByRole('button', { name: 'Set the password' }).click();
    await followed.page.getByText('The password is set').waitFor();
    await followed.page.getByRole('link', { name: 'Sign in' }).click();
    await fillPassword(followed.page, 'ada', OTHER);
    await heading(followed.page, 'Organizations');
    const again = await site.open(link);
    await again.page.getByText('This link sets no password').waitFor();
    expect(problems).toEqual([]);
  });

  test('change their password', async () => {
    const { page } = await site.open('/app/settings/account');
    await fillPassword(page, 'ada', OTHER);
    const form = page.getByRole('form', { name: 'Change the password' });
    await form.getByLabel('Current password').fill('wrong');
    await form.getByLabel('New password').fill(PASSWORD);
    await form.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('is not the password of the account').waitFor();
    await form.getByLabel('Current password').fill(OTHER);
    await form.getByLabel('New password').fill(PASSWORD);
    await form.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('The password is changed').waitFor();
    expect(await statusOf(await tokenIn(page))).toBe(200);
  });

  test('give terraform login a token of their own', async () => {
    const { redirectUri, called } = await startCommand();
    const { page } = await site.open(pageFor(redirectUri));
    await fillPassword(page, 'ada', PASSWORD);
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
    expect(own.data.attributes.username).toBe('ada');
  });

  test('get another mail address with the password, which counts once its link is followed', async () => {
    const { page, problems, accept } = await followInvitation('mae@keelson.example');
    await accept();
    await heading(page, 'Organizations');
    await page.goto(`${site.origin()}/app/settings/account`);
    await page.getByText('mae@keelson.example', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Change the mail address' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('New mail address').fill('mae@other.example');
    await dialog.getByLabel('Your password').fill('wrong');
    await dialog.getByRole('button', { name: 'Change it' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await faultsInVariants(page, 'another mail address')).toEqual({});
    await dialog.getByLabel('Your password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Change it' }).click();
    await page.getByText('until the link that was sent to mae@other.example').waitFor();
    // The former address gets a mail without a link.
    const links = [await nextLink(), await nextLink()].filter((link) => link !== '');
    expect(links).toHaveLength(1);
    const confirming = await site.open(links[0]);
    await confirming.page.getByRole('button', { name: 'Confirm my account' }).click();
    await confirming.page.getByText('mae@other.example is the mail address').waitFor();
    // The former address gets another one.
    expect(await nextLink()).toBe('');
    await page.reload();
    await page.getByText('mae@other.example', { exact: true }).waitFor();
    // The wrong password.
    expect(problems.filter((problem) => !problem.includes('422'))).toEqual([]);
  });

  test('are named on the pages of their API, and others on the pages of theirs', async () => {
    await site.secrets('sys/auth/people', {
      type: 'userpass',
      description: 'the operators',
      config: { listing_visibility: 'unauth' },
    });
    await site.secrets('sys/policies/acl/readers', {
      policy: 'path "sys/policies/*" { capabilities = ["read", "list"] }',
    });
    const operator = { password: PASSWORD, token_policies: ['readers'] };
    await site.secrets('auth/people/users/olga', operator);
    const { page, problems, accept } = await followInvitation('zoe@keelson.example');
    await accept();
    const shown = page.locator('.frame-person');
    await shown.getByText('zoe', { exact: true }).waitFor();
    await page.goto(`${site.origin()}/ui/policies`);
    await heading(page, 'Add another token');
    expect(await shown.count()).toBe(0);
    const other = page.getByRole('form', { name: 'Sign in with a password' });
    await other.getByLabel('User name').fill('olga');
    await other.getByLabel('Password').fill(PASSWORD);
    await other.getByRole('button', { name: 'Sign in' }).click();
    await heading(page, 'Policies');
    await shown.getByText('people-olga', { exact: true }).waitFor();
    await page.goto(`${site.origin()}/app/settings/account`);
    await heading(page, 'Account');
    await shown.getByText('zoe', { exact: true }).waitFor();
    expect(problems).toEqual([]);
    // Whoever comes with an API token is named as well.
    const { page: mixed } = await site.open('/app');
    await mixed.getByRole('button', { name: 'Sign in with a token' }).click();
    await mixed.getByLabel('Token').fill(site.apiToken());
    await mixed.getByLabel('Token').press('Enter');
    await mixed.locator('.frame-person').getByText('admin', { exact: true }).waitFor();
  });
});
