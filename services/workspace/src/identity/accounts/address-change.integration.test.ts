/**
 * Another mail address is a way into an account, as links for a new password are sent to it.
 *
 * | where people | whoever has | changes the address |
 * | --- | --- | --- |
 * | do not sign in | an API token | yes |
 * | sign in | an API token | 403; the name, and another spelling of the address, go on |
 * | sign in | a session | with the password, else with a passkey, else (single sign-on alone) without another proof |
 *
 * The former address is warned when another one is asked for, and when it counts.
 *
 * | what | ends |
 * | --- | --- |
 * | links for a new password | when the address changes, by its user or an administrator |
 * | the link of an invitation nobody has followed | when an administrator changes the address; another one is sent |
 * | a confirmation that waits | with a new password, a suspension, and when all sessions are ended |
 */
import type { MailServer } from '@keelson/testkit';
import { openSoftwareAuthenticator } from '@keelson/testkit/software-authenticator';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Account,
  addAccount,
  codeIn,
  enablePasswords,
  PASSWORD,
  requestReset,
  type Site,
  setPassword,
  signIn,
  startSite,
  tokenOf,
} from '../../../test/password-accounts.ts';
import { type Harness, PUBLIC_URL, startHarness } from '../../../test/workspace-harness.ts';
import { addressNotices } from '../model/user-records.ts';
import { issueSession } from '../tokens/session-operations.ts';

let site: Site;
let harness: Harness;
let mail: MailServer;
let serial = 0;

beforeAll(async () => {
  site = await startSite();
  ({ harness, mail } = site);
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
});
afterAll(() => site[Symbol.asyncDispose]());
beforeEach(async () => {
  await harness.runUpkeep();
  mail.mails.length = 0;
});

const newAccount = (): Promise<Account> => addAccount(harness, mail, `mover-${(serial += 1)}`);
const sessionOf = ({ name }: Account): Promise<string> => tokenOf(signIn(harness, name, PASSWORD));

const update = (token: string, attributes: object, on: Harness = harness) =>
  on.call('PATCH', '/account/update', { data: { type: 'users', attributes } }, token);

const answerOf = async (reply: ReturnType<typeof update>) => {
  const { status, errors } = await reply;
  return [status, errors[0]?.source?.pointer ?? errors[0]?.detail];
};

const addressesOf = async (token: string) => {
  const { data } = await harness.call('GET', '/account/details', undefined, token);
  return [data.attributes['email'], data.attributes['unconfirmed-email']];
};

const confirm = (code: string) =>
  harness.call('POST', '/email-confirmation/actions/confirm', undefined, code);

/** Asks for another address with the password. @returns the code of its link */
const ask = async (account: Account, email: string): Promise<string> => {
  const given = { email, 'current-password': PASSWORD };
  expect((await update(await sessionOf(account), given)).status).toBe(200);
  return codeIn(harness, mail, 'confirm-email', email);
};

/** Subjects of the mails to an address. */
const subjectsTo = async (address: string): Promise<readonly string[]> => {
  await harness.runUpkeep();
  return mail.mails
    .filter((text) => text.toLowerCase().includes(`to: ${address.toLowerCase()}`))
    .map((text) => /^Subject: (.*)\r$/m.exec(text)?.[1] ?? '');
};

/** Adds passkeys to an account that has one and no password, up to ten, each confirmed by the first. */
const fillPasskeys = async (
  session: string,
  first: ReturnType<typeof openSoftwareAuthenticator>,
): Promise<void> => {
  for (let count = 1; count < 10; count += 1) {
    const path = '/account/passkeys/actions/begin';
    const { attributes } = (await harness.call('POST', path, undefined, session)).data;
    const device = openSoftwareAuthenticator();
    const added = {
      name: `passkey ${count}`,
      credential: device.create(PUBLIC_URL, attributes['registration'] as object),
      confirmation: first.get(PUBLIC_URL, attributes['sign-in'] as object),
    };
    const body = { data: { type: 'passkeys', attributes: added } };
    expect((await harness.call('POST', '/account/passkeys', body, session)).status).toBe(201);
  }
};

const ASKED = 'Another mail address for your account';
const CHANGED = 'Your account has another mail address';

describe('another mail address', () => {
  test('takes a session where people sign in, and an API token is refused with the reason', async () => {
    const { email, token, name } = await newAccount();
    for (const given of [{}, { 'current-password': PASSWORD }])
      expect(await answerOf(update(token, { email: 'thief@other.example', ...given }))).toEqual([
        403,
        expect.stringContaining('mail address is changed by a user who has signed in'),
      ]);
    expect(await addressesOf(token)).toEqual([email, null]);
    expect(await subjectsTo('thief@other.example')).toEqual([]);
    // Nothing else about the account changes for programs, nor does the address itself when they send it again.
    const spelled = email.toUpperCase();
    const again = await update(token, { email: spelled, username: `${name}-b` });
    expect(again.data.attributes).toMatchObject({ email: spelled, username: `${name}-b` });
  });

  test('is not guessed for: the password is needed, and counts failures', async () => {
    const account = await newAccount();
    const session = await sessionOf(account);
    const POINTER = [422, '/data/attributes/current-password'];
    for (const given of [{}, { 'current-password': 'wrong' }])
      expect(await answerOf(update(session, { email: 'm@other.example', ...given }))).toEqual(
        POINTER,
      );
    const right = { email: `${account.name}@other.example`, 'current-password': PASSWORD };
    expect((await update(session, right)).data.attributes['unconfirmed-email']).toBe(right.email);
    // One that waits already needs none again.
    const { 'current-password': _, ...again } = right;
    expect((await update(session, again)).status).toBe(200);
  });

  test('takes a passkey where the account has no password', async () => {
    await enablePasswords(harness, { 'passkeys-enabled': true });
    const email = `guest-${(serial += 1)}@keelson.example`;
    await harness.create(
      '/organizations/acme/organization-memberships',
      'organization-memberships',
      { email },
    );
    const code = await codeIn(harness, mail, 'invitation', email);
    const device = openSoftwareAuthenticator();
    const begun = await harness.call('POST', '/invitation/actions/begin-passkey', undefined, code);
    const credential = device.create(PUBLIC_URL, begun.data.attributes['registration'] as object);
    const session = await tokenOf(
      harness.call(
        'POST',
        '/invitation/actions/add-passkey',
        { data: { type: 'invitations', attributes: { name: 'first', credential } } },
        code,
      ),
    );
    const next = `${serial}@other.example`;
    expect(await answerOf(update(session, { email: next }))).toEqual([
      422,
      '/data/attributes/confirmation',
    ]);
    const prove = async (): Promise<object> => {
      const path = '/account/passkeys/actions/confirm';
      const { data } = await harness.call('POST', path, undefined, session);
      expect(data.attributes['registration']).toBeNull();
      return device.get(PUBLIC_URL, data.attributes['sign-in'] as object);
    };
    const changed = await update(session, { email: next, confirmation: await prove() });
    expect(changed.data.attributes['unconfirmed-email']).toBe(next);
    // As many as an account may have: none can be added, and each of them still proves its person.
    await fillPasskeys(session, device);
    const third = `${serial}@third.example`;
    const again = await update(session, { email: third, confirmation: await prove() });
    expect(again.data.attributes['unconfirmed-email']).toBe(third);
  });

  test('asks for no passkey where a password is the proof, and for none with a token', async () => {
    const account = await newAccount();
    const ask = (by: string) =>
      harness.call('POST', '/account/passkeys/actions/confirm', undefined, by);
    expect((await ask(await sessionOf(account))).data.attributes).toEqual({
      'sign-in': null,
      registration: null,
    });
    expect((await ask(account.token)).status).toBe(403);
  });

  test('takes a session alone where the account has neither, and no session where nobody signs in', async () => {
    const { id } = await harness.addUser(`sso-alone-${(serial += 1)}`);
    const { text } = await harness.store.transact((tx) =>
      issueSession(tx, id, 'Firefox', harness.clock.nowMs()),
    );
    expect((await update(text, { email: `${serial}@third.example` })).status).toBe(200);
    await using bare = await startHarness();
    const { token } = await bare.addUser('program');
    const changed = await update(token, { email: 'program@other.example' }, bare);
    expect(changed.data.attributes['unconfirmed-email']).toBe('program@other.example');
    expect(await addressNotices.keys(bare.store, [])).toEqual([]);
  });
});

describe('the former address', () => {
  test('is warned when another one is asked for, and when it counts', async () => {
    const account = await newAccount();
    mail.mails.length = 0;
    const code = await ask(account, `${account.name}@other.example`);
    expect(await subjectsTo(account.email)).toEqual([ASKED]);
    expect((await confirm(code)).status).toBe(204);
    expect(await subjectsTo(account.email)).toEqual([ASKED, CHANGED]);
    expect(mail.mails.at(-1)).toContain(account.name);
    expect(await addressNotices.keys(harness.store, [])).toEqual([]);
  });

  test('is warned of what an administrator does, and again after a failure', async () => {
    const account = await newAccount();
    mail.mails.length = 0;
    mail.accepts = false;
    const path = `/admin/users/${account.id}`;
    const change = (email: string) =>
      harness.call('PATCH', path, { data: { type: 'users', attributes: { email } } });
    await change(account.email.toUpperCase());
    expect(await addressNotices.keys(harness.store, [])).toEqual([]);
    await change(`${account.name}@stated.example`);
    expect(await subjectsTo(account.email.toUpperCase())).toEqual([]);
    mail.accepts = true;
    harness.clock.advance(10_000);
    expect(await subjectsTo(account.email.toUpperCase())).toEqual([CHANGED]);
  });
});

describe('links for a new password', () => {
  test('end when the user has another address', async () => {
    const account = await newAccount();
    harness.clock.advance(600_000);
    await requestReset(harness, account.email);
    const reset = await codeIn(harness, mail, 'new-password', account.email);
    const code = await ask(account, `${account.name}@other.example`);
    const shown = () => harness.call('GET', '/password-reset', undefined, reset);
    expect((await shown()).status).toBe(200);
    expect((await confirm(code)).status).toBe(204);
    expect([(await shown()).status, (await setPassword(harness, reset, PASSWORD)).status]).toEqual([
      401, 401,
    ]);
  });

  test('end when an administrator states another address, as do links of invitations', async () => {
    const account = await newAccount();
    harness.clock.advance(600_000);
    await requestReset(harness, account.email);
    const reset = await codeIn(harness, mail, 'new-password', account.email);
    const change = (id: string, email: string) =>
      harness.call('PATCH', `/admin/users/${id}`, {
        data: { type: 'users', attributes: { email } },
      });
    await change(account.id, `${account.name}@stated.example`);
    expect((await setPassword(harness, reset, PASSWORD)).status).toBe(401);
    const invited = `typo-${(serial += 1)}@keelson.example`;
    const right = `right-${serial}@keelson.example`;
    const { relationships } = await harness.create(
      '/organizations/acme/organization-memberships',
      'organization-memberships',
      { email: invited },
    );
    const link = await codeIn(harness, mail, 'invitation', invited);
    const user = relationships['user']?.data as { id: string };
    await change(user.id, right);
    const show = (code: string) => harness.call('GET', '/invitation', undefined, code);
    expect((await show(link)).status).toBe(401);
    const sent = await show(await codeIn(harness, mail, 'invitation', right));
    expect(sent.data.attributes['email']).toBe(right);
  });
});

describe('a confirmation that waits', () => {
  const endings: Readonly<Record<string, (account: Account) => Promise<{ status: number }>>> = {
    'a changed password': async (account) =>
      harness.call(
        'PATCH',
        '/account/password',
        {
          data: {
            type: 'users',
            attributes: {
              current_password: PASSWORD,
              password: 'another four words',
              password_confirmation: 'another four words',
            },
          },
        },
        await sessionOf(account),
      ),
    'a password by mail': async ({ email }) => {
      harness.clock.advance(600_000);
      await requestReset(harness, email);
      return setPassword(harness, await codeIn(harness, mail, 'new-password', email), PASSWORD);
    },
    'a sign-out everywhere': ({ token }) =>
      harness.call('DELETE', '/account/sessions', undefined, token),
    'sessions that an administrator ends': ({ id }) =>
      harness.call('POST', `/admin/users/${id}/actions/end_sessions`),
    'a suspension': async ({ id }) => {
      await harness.call('POST', `/admin/users/${id}/actions/suspend`);
      return harness.call('POST', `/admin/users/${id}/actions/unsuspend`);
    },
  };

  test.for(Object.entries(endings))('ends with %s', async ([, end]) => {
    const account = await newAccount();
    const code = await ask(account, `${account.name}@other.example`);
    const { status } = await end(account);
    expect([200, 204]).toContain(status);
    expect((await confirm(code)).status).toBe(401);
    expect(await addressesOf(account.token)).toEqual([account.email, null]);
  });
});
