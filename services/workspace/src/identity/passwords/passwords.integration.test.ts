/**
 * Passwords of users.
 *
 * | a password is set | by | effect |
 * | --- | --- | --- |
 * | first | the link of an invitation | the account opens, and its person is signed in |
 * | first or again | the link of a mail that anybody may ask for | every session and link of the account ends |
 * | again | its user, with the present one | the other sessions end |
 *
 * | a request for a mail | answer |
 * | --- | --- |
 * | for any address, known or not | 202, and the same is stored |
 */
import type { MailServer } from '@keelson/testkit';
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
import type { Harness } from '../../../test/workspace-harness.ts';
import { passwordMails } from '../model/credential-records.ts';

const MINUTE_MS = 60_000;
const OTHER = 'another four words';
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
beforeEach(() => {
  mail.mails.length = 0;
  mail.accepts = true;
});

const newAccount = (): Promise<Account> => addAccount(harness, mail, `person-${(serial += 1)}`);
const isOpen = async (token: string): Promise<boolean> =>
  (await harness.call('GET', '/account/details', undefined, token)).status === 200;
const resetCode = async (email: string): Promise<string> => {
  await requestReset(harness, email);
  return codeIn(harness, mail, 'new-password', email);
};

const change = (token: string, attributes: object) =>
  harness.call(
    'PATCH',
    '/account/password',
    {
      data: {
        type: 'users',
        attributes: {
          current_password: PASSWORD,
          password: OTHER,
          password_confirmation: OTHER,
          ...attributes,
        },
      },
    },
    token,
  );

const acceptWith = (code: string, password: string) =>
  harness.call(
    'POST',
    '/invitation/actions/set-password',
    { data: { type: 'invitations', attributes: { password } } },
    code,
  );

const invite = async (email: string): Promise<string> => {
  await harness.create('/organizations/acme/organization-memberships', 'organization-memberships', {
    email,
  });
  return codeIn(harness, mail, 'invitation', email);
};

describe('the link of an invitation', () => {
  test('sets a password once, opens the account and signs its person in', async () => {
    const code = await invite('ada@keelson.example');
    expect((await acceptWith(code, 'too short')).errors[0]?.source?.pointer).toBe(
      '/data/attributes/password',
    );
    const accepted = await acceptWith(code, PASSWORD);
    expect([accepted.status, accepted.data.type]).toEqual([201, 'sessions']);
    const session = String(accepted.data.attributes['token']);
    const organizations = await harness.call('GET', '/organizations', undefined, session);
    expect(organizations.list.map(({ id }) => id)).toEqual(['acme']);
    expect((await acceptWith(code, OTHER)).status).toBe(401);
    expect((await signIn(harness, 'ada@keelson.example', PASSWORD)).status).toBe(201);
  });

  test('of two requests at once lets one set a password', async () => {
    const code = await invite('twin@keelson.example');
    const answers = await Promise.all([acceptWith(code, PASSWORD), acceptWith(code, OTHER)]);
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses[0]).toBe(201);
    expect([401, 404]).toContain(statuses[1]);
  });

  test('sets none where passwords are off, and still gives a token', async () => {
    const code = await invite('grace@keelson.example');
    await enablePasswords(harness, { 'passwords-enabled': false });
    expect((await acceptWith(code, PASSWORD)).status).toBe(403);
    const accepted = await harness.call('POST', '/invitation/actions/accept', undefined, code);
    expect(accepted.data.type).toBe('authentication-tokens');
    await enablePasswords(harness);
  });
});

describe('a new password by mail', () => {
  test('is set once by its link, and ends every session', async () => {
    const { name, email, token } = await newAccount();
    const session = await tokenOf(signIn(harness, name, PASSWORD));
    harness.clock.advance(10 * MINUTE_MS);
    const code = await resetCode(email.toUpperCase());
    const shown = await harness.call('GET', '/password-reset', undefined, code);
    expect(shown.data).toMatchObject({
      type: 'password-resets',
      attributes: {
        username: name,
        'expires-at': new Date(harness.clock.nowMs() + 60 * MINUTE_MS).toISOString(),
      },
    });
    expect((await setPassword(harness, code, OTHER)).status).toBe(204);
    expect((await setPassword(harness, code, PASSWORD)).status).toBe(401);
    // API tokens are credentials of their own.
    expect([await isOpen(session), await isOpen(token)]).toEqual([false, true]);
    expect((await signIn(harness, name, PASSWORD)).status).toBe(401);
    expect((await signIn(harness, name, OTHER)).status).toBe(201);
  });

  test('unlocks whoever was locked out', async () => {
    const { name, email } = await newAccount();
    for (let failure = 0; failure < 5; failure += 1) await signIn(harness, name, 'wrong');
    expect((await signIn(harness, name, PASSWORD)).status).toBe(429);
    harness.clock.advance(10 * MINUTE_MS);
    await setPassword(harness, await resetCode(email), OTHER);
    expect((await signIn(harness, name, OTHER)).status).toBe(201);
  });

  test('is asked for with one answer and one record, whoever has the address', async () => {
    const { email } = await newAccount();
    const suspended = await newAccount();
    await harness.call('POST', `/admin/users/${suspended.id}/actions/suspend`);
    await invite('not-yet@keelson.example');
    harness.clock.advance(10 * MINUTE_MS);
    mail.mails.length = 0;
    const addresses = [
      email,
      suspended.email,
      'not-yet@keelson.example',
      'nobody@keelson.example',
      'no address',
      '',
    ];
    for (const address of addresses) {
      const { status, errors } = await requestReset(harness, address);
      expect([address, status, errors]).toEqual([address, 202, []]);
    }
    const waiting = await passwordMails.entries(harness.store);
    expect(waiting).toHaveLength(addresses.length);
    expect(new Set(waiting.map(([, record]) => JSON.stringify(record))).size).toBe(1);
    await harness.runUpkeep();
    expect(mail.mails).toHaveLength(1);
    expect(await passwordMails.keys(harness.store, [])).toEqual([]);
  });

  test('is mailed every 10 minutes at most, and a new link ends the former', async () => {
    const { email } = await newAccount();
    harness.clock.advance(10 * MINUTE_MS);
    const first = await resetCode(email);
    mail.mails.length = 0;
    expect(await resetCode(email)).toBe('');
    harness.clock.advance(10 * MINUTE_MS);
    const second = await resetCode(email);
    expect((await setPassword(harness, first, OTHER)).status).toBe(401);
    expect((await setPassword(harness, second, OTHER)).status).toBe(204);
  });

  test('has a link that ends after an hour, and opens nothing else', async () => {
    const { id, email } = await newAccount();
    harness.clock.advance(10 * MINUTE_MS);
    const code = await resetCode(email);
    for (const path of ['/account/details', '/organizations/acme', `/users/${id}`, '/invitation'])
      expect((await harness.call('GET', path, undefined, code)).status).toBe(404);
    harness.clock.advance(60 * MINUTE_MS);
    expect((await setPassword(harness, code, OTHER)).status).toBe(401);
  });

  test('ends with a suspension, and with passwords of the site', async () => {
    const { id, email } = await newAccount();
    harness.clock.advance(10 * MINUTE_MS);
    const code = await resetCode(email);
    await enablePasswords(harness, { 'passwords-enabled': false });
    expect((await setPassword(harness, code, OTHER)).status).toBe(401);
    expect((await requestReset(harness, email)).status).toBe(403);
    await enablePasswords(harness);
    await harness.call('POST', `/admin/users/${id}/actions/suspend`);
    await harness.call('POST', `/admin/users/${id}/actions/unsuspend`);
    expect((await setPassword(harness, code, OTHER)).status).toBe(401);
  });

  test('of two requests at once is set by one', async () => {
    const { name, email } = await newAccount();
    harness.clock.advance(10 * MINUTE_MS);
    const code = await resetCode(email);
    const answers = await Promise.all([
      setPassword(harness, code, OTHER),
      setPassword(harness, code, 'a third one of these'),
    ]);
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect((await signIn(harness, name, PASSWORD)).status).toBe(401);
  });

  test('waits while the mail server refuses', async () => {
    const { name, email } = await newAccount();
    harness.clock.advance(10 * MINUTE_MS);
    mail.mails.length = 0;
    mail.accepts = false;
    expect(await resetCode(email)).toBe('');
    mail.accepts = true;
    harness.clock.advance(10_000);
    const code = await codeIn(harness, mail, 'new-password', email);
    expect((await setPassword(harness, code, OTHER)).status).toBe(204);
    expect((await signIn(harness, name, OTHER)).status).toBe(201);
  });

  test('is asked for in a flood without filling the store', async () => {
    await harness.store.transact((tx) => {
      for (let index = 0; index < 999; index += 1)
        passwordMails.write(tx, [`flood-${index}`], { attempts: 0, dueAtMs: 0 });
      return Promise.resolve();
    });
    for (const address of ['last@keelson.example', 'late@keelson.example'])
      expect((await requestReset(harness, address)).status).toBe(202);
    expect(await passwordMails.keys(harness.store, [])).toHaveLength(1000);
    await harness.runUpkeep();
    expect(await passwordMails.keys(harness.store, [])).toEqual([]);
  });
});

describe('a change of the password', () => {
  test('needs the present one, and ends the other sessions', async () => {
    const { name } = await newAccount();
    const [own, other] = [
      await tokenOf(signIn(harness, name, PASSWORD)),
      await tokenOf(signIn(harness, name, PASSWORD)),
    ];
    const wrong = await change(own, { current_password: 'wrong' });
    expect([wrong.status, wrong.errors[0]?.source?.pointer]).toEqual([
      422,
      '/data/attributes/current_password',
    ]);
    expect((await change(own, {})).status).toBe(200);
    expect([await isOpen(own), await isOpen(other)]).toEqual([true, false]);
    expect((await signIn(harness, name, OTHER)).status).toBe(201);
  });

  test('gives no guesses to whoever has found an API token', async () => {
    const { name, token } = await newAccount();
    for (let failure = 0; failure < 5; failure += 1)
      await change(token, { current_password: 'wrong' });
    expect((await change(token, {})).status).toBe(429);
    expect((await signIn(harness, name, PASSWORD)).status).toBe(429);
  });

  test('sets no first password: that takes a link', async () => {
    const { token } = await harness.addUser(`token-only-${(serial += 1)}`);
    expect((await change(token, {})).status).toBe(422);
    expect((await change(token, { current_password: '' })).status).toBe(422);
  });

  test.for([
    ['short', 'password', /at least 12 characters/],
    ['aaaaaaaaaaaaaaaa', 'password', /different characters/],
    ['person-of-rules', 'password', /not be the name/],
    ['PERSON-OF-RULES@keelson.example', 'password', /mail address/],
  ] as const)('refuses %s', async ([password, field, text]) => {
    const name = 'person-of-rules';
    const found = await signIn(harness, name, PASSWORD);
    const session =
      found.status === 201
        ? String(found.data.attributes['token'])
        : await addAccount(harness, mail, name).then(() =>
            tokenOf(signIn(harness, name, PASSWORD)),
          );
    const { status, errors } = await change(session, {
      password,
      password_confirmation: password,
    });
    expect([status, errors[0]?.source?.pointer]).toEqual([422, `/data/attributes/${field}`]);
    expect(errors[0]?.detail).toMatch(text);
  });

  test('refuses a confirmation that differs, and a text that is too long', async () => {
    const { name } = await newAccount();
    const session = await tokenOf(signIn(harness, name, PASSWORD));
    const differs = await change(session, { password_confirmation: PASSWORD });
    expect(differs.errors[0]?.source?.pointer).toBe('/data/attributes/password_confirmation');
    const long = 'long '.repeat(206);
    const refused = await change(session, { password: long, password_confirmation: long });
    expect(refused.status).toBe(422);
  });
});
