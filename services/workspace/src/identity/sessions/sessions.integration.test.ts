/**
 * Sign-in with a password, and the sessions that it begins.
 *
 * | sign-in | answer |
 * | --- | --- |
 * | by name or address in any case, with the password | 201, a session of limited life |
 * | with a wrong password, of an unknown or suspended user, of one without a password | 401, the same text |
 * | after five failures with the name, known or not | 429 for 15 minutes, whatever the password |
 * | while the site has not switched passwords on | 403 |
 *
 * | a session | ends |
 * | --- | --- |
 * | any | by its time, by its user from any other, by signing out |
 * | all of a user | when the user is suspended, and stay ended; when an administrator ends them |
 * | all others | when the password is changed |
 * | all of the site | when the site switches passwords off |
 */
import { countPasswordHashes, type MailServer } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

const MINUTE_MS = 60_000;
let site: Site;
let harness: Harness;
let mail: MailServer;
let serial = 0;

beforeAll(async () => {
  site = await startSite();
  ({ harness, mail } = site);
});
afterAll(() => site[Symbol.asyncDispose]());

const newAccount = (): Promise<Account> => addAccount(harness, mail, `person-${(serial += 1)}`);

const isOpen = async (token: string): Promise<boolean> =>
  (await harness.call('GET', '/account/details', undefined, token)).status === 200;

const list = (token: string) => harness.call('GET', '/account/sessions', undefined, token);
const answerOf = async (reply: ReturnType<typeof signIn>) => {
  const { status, errors } = await reply;
  return [status, errors[0]?.detail];
};
const REFUSED = [401, 'the name or the password is wrong'];
const LOCKED = [429, expect.stringContaining('try again in 15 minutes')];

const failTimes = async (login: string, times: number) => {
  for (let failure = 0; failure < times; failure += 1) await signIn(harness, login, 'wrong');
};

describe('a sign-in', () => {
  test('by name or address, in any case, begins a session of the user', async () => {
    const { id, name, email } = await newAccount();
    for (const login of [name.toUpperCase(), email.toUpperCase()]) {
      const { status, data } = await signIn(harness, login, PASSWORD);
      expect(status).toBe(201);
      expect(data).toMatchObject({
        type: 'sessions',
        attributes: {
          'user-agent': 'Firefox',
          'is-current': true,
          'expires-at': new Date(harness.clock.nowMs() + 720 * MINUTE_MS).toISOString(),
        },
        relationships: { user: { data: { id } } },
      });
      const token = String(data.attributes['token']);
      const account = await harness.call('GET', '/account/details', undefined, token);
      expect(account.data.id).toBe(id);
    }
  });

  test('is refused in one way after the same work, whatever is wrong', async () => {
    const { name } = await newAccount();
    const suspended = await newAccount();
    await harness.call('POST', `/admin/users/${suspended.id}/actions/suspend`);
    const { id: _, ...without } = await harness.addUser(`token-only-${(serial += 1)}`);
    expect(without.token).not.toBe('');
    for (const [login, password] of [
      [name, 'wrong'],
      [name, ''],
      ['nobody', PASSWORD],
      ['nobody@keelson.example', PASSWORD],
      [suspended.name, PASSWORD],
      [`token-only-${serial}`, PASSWORD],
      ['', ''],
      ['a/b', PASSWORD],
      ['__proto__', PASSWORD],
      ['\u0000@\u0000', PASSWORD],
    ] as const) {
      const hashes = await countPasswordHashes(async () => {
        const answer = await answerOf(signIn(harness, login, password));
        expect([login, answer]).toEqual([login, REFUSED]);
      });
      expect([login, hashes]).toEqual([login, 1]);
    }
  });

  test('finds the password however its letters are composed', async () => {
    const { name, token, id } = await newAccount();
    const session = await tokenOf(signIn(harness, name, PASSWORD));
    const composed = 'caf\u00e9 au lait 4 all';
    const changed = await harness.call(
      'PATCH',
      '/account/password',
      {
        data: {
          type: 'users',
          attributes: {
            current_password: PASSWORD,
            password: composed,
            password_confirmation: composed,
          },
        },
      },
      session,
    );
    expect([changed.status, changed.data.id]).toEqual([200, id]);
    expect(await isOpen(token)).toBe(true);
    expect((await signIn(harness, name, composed.normalize('NFD'))).status).toBe(201);
  });

  test('is locked for 15 minutes after five failures with a name, whoever has it', async () => {
    const { name, email } = await newAccount();
    for (const login of [name, 'no-such-person']) {
      await failTimes(login, 4);
      expect(await answerOf(signIn(harness, login, 'wrong'))).toEqual(REFUSED);
      expect(await answerOf(signIn(harness, login.toUpperCase(), PASSWORD))).toEqual(LOCKED);
    }
    // Attempts by name and by address are not added: it would say whose address it is.
    expect((await signIn(harness, email, PASSWORD)).status).toBe(201);
    harness.clock.advance(15 * MINUTE_MS);
    expect((await signIn(harness, name, PASSWORD)).status).toBe(201);
  });

  test('of many at once lets five guesses pass', async () => {
    const { name } = await newAccount();
    const guesses = await Promise.all(
      Array.from({ length: 12 }, () => signIn(harness, name, 'a guess of many')),
    );
    const statuses = guesses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(await answerOf(signIn(harness, name, PASSWORD))).toEqual(LOCKED);
  });

  test('of too many at once is refused, and costs the process no more', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => signIn(harness, `crowd-${index}`, 'wrong')),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect({ tried: count(401), refused: count(429) }).toEqual({ tried: 32, refused: 8 });
  });

  test('is off until the site switches it on, and then for everybody alike', async () => {
    await using bare = await startHarness();
    const off = [403, expect.stringContaining('sign-in with a password is off')];
    expect(await answerOf(signIn(bare, 'admin', PASSWORD))).toEqual(off);
    expect(await answerOf(signIn(bare, 'nobody', PASSWORD))).toEqual(off);
    const methods = () => bare.call('GET', '/sign-in-methods', undefined, null);
    expect((await methods()).data.attributes).toEqual({
      password: false,
      passkey: false,
      'password-reset': false,
      'single-sign-on': null,
    });
    expect((await enablePasswords(bare)).data.attributes).toEqual({
      'passwords-enabled': true,
      'passkeys-enabled': false,
      'session-minutes': 720,
    });
    // No mail is sent from there.
    expect((await methods()).data.attributes).toEqual({
      password: true,
      passkey: false,
      'password-reset': false,
      'single-sign-on': null,
    });
  });
});

describe('a session', () => {
  test('is listed for its user, who ends it from another; a token ends none of somebody else', async () => {
    const { id, name, token } = await newAccount();
    const stranger = await newAccount();
    const [phone, laptop] = [
      await tokenOf(signIn(harness, name, PASSWORD)),
      await tokenOf(signIn(harness, name, PASSWORD)),
    ];
    await isOpen(phone);
    const { list: sessions } = await list(laptop);
    expect(sessions.map(({ attributes }) => attributes['is-current'])).toEqual([true, false]);
    expect(sessions.map(({ attributes }) => attributes['token'])).toEqual([null, null]);
    expect(sessions[1]?.attributes['last-used-at']).toBe(
      new Date(harness.clock.nowMs()).toISOString(),
    );
    const ended = `/account/sessions/${sessions[1]?.id}`;
    for (const other of [stranger.token, harness.adminToken])
      expect((await harness.call('DELETE', ended, undefined, other)).status).toBe(404);
    expect((await harness.call('DELETE', ended, undefined, laptop)).status).toBe(204);
    expect([await isOpen(phone), await isOpen(laptop)]).toEqual([false, true]);
    // The list of API tokens has none of them.
    const path = `/users/${id}/authentication-tokens`;
    const tokens = await harness.call('GET', path, undefined, token);
    expect(tokens.list).toHaveLength(1);
  });

  test('ends when its user signs out, which an API token cannot', async () => {
    const { name, token } = await newAccount();
    const session = await tokenOf(signIn(harness, name, PASSWORD));
    const signOut = (of: string) => harness.call('DELETE', '/account/session', undefined, of);
    expect((await signOut(token)).status).toBe(404);
    expect((await signOut(session)).status).toBe(204);
    expect([await isOpen(session), await isOpen(token)]).toEqual([false, true]);
    expect((await signOut(session)).status).toBe(401);
  });

  test('ends with all others when its user signs out everywhere, and API tokens stay', async () => {
    const [{ name, token }, stranger] = [await newAccount(), await newAccount()];
    const foreign = await tokenOf(signIn(harness, stranger.name, PASSWORD));
    const leave = (of: string) => harness.call('DELETE', '/account/sessions', undefined, of);
    for (const by of ['session', 'token']) {
      const phone = await tokenOf(signIn(harness, name, PASSWORD));
      const laptop = await tokenOf(signIn(harness, name, PASSWORD));
      expect((await leave(by === 'session' ? laptop : token)).status).toBe(204);
      expect([await isOpen(phone), await isOpen(laptop)]).toEqual([false, false]);
    }
    expect([await isOpen(token), await isOpen(foreign)]).toEqual([true, true]);
  });

  test('ends by its time, which the site chooses', async () => {
    const { name } = await newAccount();
    await enablePasswords(harness, { 'session-minutes': 5 });
    const session = await tokenOf(signIn(harness, name, PASSWORD));
    harness.clock.advance(5 * MINUTE_MS - 1);
    expect(await isOpen(session)).toBe(true);
    harness.clock.advance(1);
    expect(await isOpen(session)).toBe(false);
    await enablePasswords(harness, { 'session-minutes': 720 });
    for (const minutes of [4, 129_601, 7.5])
      expect((await enablePasswords(harness, { 'session-minutes': minutes })).status).toBe(422);
  });

  test('ends with the suspension of its user, whose end brings it not back', async () => {
    const { id, name } = await newAccount();
    const session = await tokenOf(signIn(harness, name, PASSWORD));
    await harness.call('POST', `/admin/users/${id}/actions/suspend`);
    expect(await isOpen(session)).toBe(false);
    await harness.call('POST', `/admin/users/${id}/actions/unsuspend`);
    expect(await isOpen(session)).toBe(false);
    expect((await signIn(harness, name, PASSWORD)).status).toBe(201);
  });

  test('ends when an administrator ends all of its user, and tokens and accounts stay', async () => {
    const [{ id, name, email, token }, other] = [await newAccount(), await newAccount()];
    const sessions = [
      await tokenOf(signIn(harness, name, PASSWORD)),
      await tokenOf(signIn(harness, name, PASSWORD)),
    ];
    const others = await tokenOf(signIn(harness, other.name, PASSWORD));
    await requestReset(harness, email);
    const link = await codeIn(harness, mail, 'new-password', email);
    const end = (by?: string) =>
      harness.call('POST', `/admin/users/${id}/actions/end_sessions`, undefined, by);
    expect((await end(others)).status).toBe(404);
    const ended = await end();
    expect([ended.status, ended.data.attributes['username']]).toEqual([200, name]);
    expect(await Promise.all(sessions.map(isOpen))).toEqual([false, false]);
    expect([await isOpen(token), await isOpen(others)]).toEqual([true, true]);
    // Nor does a link for a new password go on that somebody may have asked for in the name of the person.
    expect((await setPassword(harness, link, PASSWORD)).status).toBe(401);
    // Where there is none, nothing is left to do; the person may sign in again.
    expect((await end()).status).toBe(200);
    expect((await signIn(harness, name, PASSWORD)).status).toBe(201);
    await harness.call('POST', `/admin/users/${id}/actions/suspend`);
    expect((await end()).data.attributes['is-suspended']).toBe(true);
    expect(await isOpen(token)).toBe(false);
  });

  test('ends when its user, who is an administrator, ends all of the own account', async () => {
    const { id, name } = await newAccount();
    await harness.call('POST', `/admin/users/${id}/actions/grant_admin`);
    const session = await tokenOf(signIn(harness, name, PASSWORD));
    const path = `/admin/users/${id}/actions/end_sessions`;
    expect((await harness.call('POST', path, undefined, session)).status).toBe(200);
    expect(await isOpen(session)).toBe(false);
    expect((await signIn(harness, name, PASSWORD)).status).toBe(201);
  });

  test('ends with its user, with the password', async () => {
    const { id, name } = await newAccount();
    const session = await tokenOf(signIn(harness, name, PASSWORD));
    expect((await harness.call('DELETE', `/admin/users/${id}`)).status).toBe(204);
    expect(await isOpen(session)).toBe(false);
    await harness.addUser(name);
    expect(await answerOf(signIn(harness, name, PASSWORD))).toEqual(REFUSED);
  });

  test('ends when the site switches passwords off', async () => {
    const { name } = await newAccount();
    const session = await tokenOf(signIn(harness, name, PASSWORD));
    await enablePasswords(harness, { 'passwords-enabled': false });
    expect(await isOpen(session)).toBe(false);
    await enablePasswords(harness);
  });

  test('is one of 50 at most; the oldest gives way', async () => {
    const { name } = await newAccount();
    const first = await tokenOf(signIn(harness, name, PASSWORD));
    harness.clock.advance(1);
    for (let more = 0; more < 50; more += 1) await signIn(harness, name, PASSWORD);
    const last = await tokenOf(signIn(harness, name, PASSWORD));
    expect(await isOpen(first)).toBe(false);
    const { meta } = await list(last);
    expect(meta.pagination['total-count']).toBe(50);
  });

  test('opens an organization that keeps API tokens of users out', async () => {
    await harness.create('/organizations', 'organizations', { name: 'keep', email: 'a@b.example' });
    const team = await harness.create('/organizations/keep/teams', 'teams', { name: 'readers' });
    const { name, token } = await addAccount(harness, mail, `guest-${(serial += 1)}`, team.id);
    await harness.call('PATCH', '/organizations/keep', {
      data: { type: 'organizations', attributes: { 'user-tokens-enabled': false } },
    });
    const session = await tokenOf(signIn(harness, name, PASSWORD));
    const show = async (by: string) =>
      (await harness.call('GET', '/organizations/keep', undefined, by)).status;
    expect([await show(token), await show(session)]).toEqual([404, 200]);
  });
});
