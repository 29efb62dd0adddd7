/**
 * Two-factor authentication of accounts.
 *
 * | its user | effect |
 * | --- | --- |
 * | begins, with the password | a key for an authenticator app, shown once; nothing changes yet |
 * | verifies a first passcode | ten recovery codes, shown once; the other sessions end |
 * | signs in | a passcode or a recovery code is asked for, once the password is right; each works once |
 * | guesses passcodes | waits longer each time, after the fifth |
 * | disables it, with password and factor | the password signs in alone |
 *
 * | an organization whose policy is two_factor_mandatory | |
 * | --- | --- |
 * | a member without it | 403 on every request, and the list of organizations says why |
 * | a member with it, also by an API token; tokens of teams and the organization | as before |
 * | setting the policy | needs it oneself |
 */
import type { MailServer } from '@keelson/testkit';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Account,
  addAccount,
  PASSWORD,
  type Site,
  signIn,
  startSite,
  tokenOf,
} from '../../../test/password-accounts.ts';
import type { Harness } from '../../../test/workspace-harness.ts';

const PERIOD_MS = 30_000;
let site: Site;
let harness: Harness;
let mail: MailServer;
let serial = 0;

beforeAll(async () => {
  site = await startSite();
  ({ harness, mail } = site);
});
afterAll(() => site[Symbol.asyncDispose]());

const PATH = '/account/two-factor';
const call = (token: string, method: string, action = '', attributes?: object) =>
  harness.call(
    method,
    `${PATH}${action}`,
    attributes && { data: { type: 'two-factors', attributes } },
    token,
  );
const begin = (token: string, password = PASSWORD) =>
  call(token, 'POST', '', { 'current-password': password });
const verify = (token: string, passcode: string) =>
  call(token, 'POST', '/actions/verify', { passcode });

/** The passcode that the app shows now. */
const passcodeOf = (secret: string): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: harness.clock.nowMs() });

interface Protected extends Account {
  readonly secret: string;
  readonly codes: readonly string[];
  /** Token of the session in which it was set up. */
  readonly session: string;
}

const enrol = async (account: Account): Promise<Protected> => {
  const session = await tokenOf(signIn(harness, account.name, PASSWORD));
  const secret = String((await begin(session)).data.attributes['secret']);
  const { data } = await verify(session, passcodeOf(secret));
  const codes = data.attributes['recovery-codes'] as string[];
  // The passcode of this period is spent.
  harness.clock.advance(PERIOD_MS);
  return { ...account, secret, codes, session };
};
const newAccount = (...teamIds: readonly string[]): Promise<Account> =>
  addAccount(harness, mail, `person-${(serial += 1)}`, ...teamIds);

const answerOf = async (reply: ReturnType<typeof signIn>) => {
  const { status, errors } = await reply;
  return [status, errors[0]?.source?.pointer, errors[0]?.detail];
};
const NEEDED = [
  422,
  '/data/attributes/passcode',
  'is required: the account has two-factor authentication',
];

describe('an account', () => {
  test('gets a key for an app, and recovery codes with the first passcode', async () => {
    const account = await newAccount();
    const session = await tokenOf(signIn(harness, account.name, PASSWORD));
    const other = await tokenOf(signIn(harness, account.name, PASSWORD));
    const begun = await begin(session);
    expect([begun.status, begun.data.attributes['enabled']]).toEqual([201, false]);
    const secret = String(begun.data.attributes['secret']);
    const address = new URL(String(begun.data.attributes['provisioning-url']));
    expect([address.protocol, address.host]).toEqual(['otpauth:', 'totp']);
    expect(address.searchParams.get('secret')).toBe(secret);
    expect(address.searchParams.get('issuer')).toBe('Keelson keelson.example');
    // Nothing changes before the app has proved that it has the key.
    expect((await signIn(harness, account.name, PASSWORD)).status).toBe(201);
    expect((await verify(session, '000000')).status).toBe(422);
    const verified = await verify(session, passcodeOf(secret));
    expect(verified.data.attributes).toMatchObject({
      enabled: true,
      verified: true,
      'recovery-codes-left': 10,
    });
    expect(new Set(verified.data.attributes['recovery-codes'] as string[]).size).toBe(10);
    const shown = (await call(session, 'GET')).data.attributes;
    expect(shown).toEqual({ enabled: true, verified: true, 'recovery-codes-left': 10 });
    const { data } = await harness.call('GET', '/account/details', undefined, session);
    expect(data.attributes['two-factor']).toEqual({ enabled: true, verified: true });
    expect((await call(other, 'GET')).status).toBe(401);
    for (const again of [begin(session), verify(session, passcodeOf(secret))])
      expect((await again).status).toBe(409);
  });

  test('is asked for the factor only once the password is right', async () => {
    const { name, secret } = await enrol(await newAccount());
    const wrong = { passcode: '000000' };
    expect((await signIn(harness, name, 'wrong', wrong)).status).toBe(401);
    expect(await answerOf(signIn(harness, name, PASSWORD))).toEqual(NEEDED);
    expect(await answerOf(signIn(harness, name, PASSWORD, wrong))).toEqual([
      422,
      '/data/attributes/passcode',
      'is wrong',
    ]);
    const right = { passcode: passcodeOf(secret) };
    const both = await Promise.all([
      signIn(harness, name, PASSWORD, right),
      signIn(harness, name, PASSWORD, right),
    ]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422]);
  });

  test('lets nobody guess passcodes: after the fifth, each costs a longer wait', async () => {
    const { name, secret } = await enrol(await newAccount());
    const guess = () => answerOf(signIn(harness, name, PASSWORD, { passcode: '000000' }));
    for (let failure = 0; failure < 5; failure += 1) await guess();
    const right = () => signIn(harness, name, PASSWORD, { passcode: passcodeOf(secret) });
    expect((await answerOf(right()))[2]).toBe('was wrong too often: try again in 30 seconds');
    harness.clock.advance(30_000);
    await guess();
    expect((await answerOf(right()))[2]).toBe('was wrong too often: try again in 60 seconds');
    harness.clock.advance(60_000);
    expect((await right()).status).toBe(201);
  });

  test('signs in by each recovery code once, however it is typed', async () => {
    const { name, session, codes } = await enrol(await newAccount());
    const use = (code: string) =>
      answerOf(signIn(harness, name, PASSWORD, { 'recovery-code': code }));
    const [first = '', second = '', third = ''] = codes;
    expect((await use(first))[0]).toBe(201);
    expect((await use(first)).slice(0, 2)).toEqual([422, '/data/attributes/recovery-code']);
    expect((await use(second.toUpperCase().replaceAll('-', ' ')))[0]).toBe(201);
    expect((await call(session, 'GET')).data.attributes['recovery-codes-left']).toBe(8);
    const renewed = await call(session, 'POST', '/actions/renew-recovery-codes', {
      'recovery-code': third,
    });
    expect(renewed.data.attributes['recovery-codes-left']).toBe(10);
    expect((await use(codes[3] ?? ''))[0]).toBe(422);
    expect((await use((renewed.data.attributes['recovery-codes'] as string[])[0] ?? ''))[0]).toBe(
      201,
    );
  });

  test('is changed by a session with the password, not by an API token', async () => {
    const { token, name } = await newAccount();
    const forbidden = [403, undefined, expect.stringContaining('not with an API token')];
    expect(await answerOf(begin(token))).toEqual(forbidden);
    const session = await tokenOf(signIn(harness, name, PASSWORD));
    expect((await answerOf(begin(session, 'wrong'))).slice(0, 2)).toEqual([
      422,
      '/data/attributes/current-password',
    ]);
    expect((await call(token, 'GET')).data.attributes['enabled']).toBe(false);
    expect((await verify(session, '123456')).status).toBe(409);
  });

  test('is without it again after password and factor, or by an administrator', async () => {
    const account = await enrol(await newAccount());
    const disable = (attributes: object) =>
      call(account.session, 'POST', '/actions/disable', attributes);
    const [code = ''] = account.codes;
    expect((await disable({ 'current-password': PASSWORD })).status).toBe(422);
    const wrong = { 'current-password': 'wrong', 'recovery-code': code };
    expect((await disable(wrong)).status).toBe(422);
    const right = { 'current-password': PASSWORD, 'recovery-code': code };
    expect((await disable(right)).status).toBe(204);
    expect((await signIn(harness, account.name, PASSWORD)).status).toBe(201);
    await enrol(account);
    const action = `/admin/users/${account.id}/actions/disable_two_factor`;
    expect((await harness.call('POST', action)).data.attributes['two-factor']).toEqual({
      enabled: false,
      verified: false,
    });
    expect((await harness.call('POST', action)).status).toBe(400);
    expect((await signIn(harness, account.name, PASSWORD)).status).toBe(201);
  });
});

describe('an organization that requires it', () => {
  const policy = (value: string, token: string) =>
    harness.call(
      'PATCH',
      '/organizations/strict',
      { data: { type: 'organizations', attributes: { 'collaborator-auth-policy': value } } },
      token,
    );

  test('keeps out members without it, however they come, and nobody else', async () => {
    const place = '/organizations/strict';
    await harness.create('/organizations', 'organizations', {
      name: 'strict',
      email: 'a@b.example',
    });
    const { list: teams } = await harness.call('GET', `${place}/teams`);
    const owners = teams.find(({ attributes }) => attributes['name'] === 'owners')?.id ?? '';
    const { id: team } = await harness.create(`${place}/teams`, 'teams', { name: 'readers' });
    const made = await harness.create(
      `/teams/${team}/authentication-token`,
      'authentication-tokens',
      {},
    );
    const workspace = await harness.create(`${place}/workspaces`, 'workspaces', { name: 'web' });
    const owner = await newAccount(owners);
    const member = await newAccount(team);
    const refused = await policy('two_factor_mandatory', owner.token);
    expect([refused.status, refused.errors[0]?.source?.pointer]).toEqual([
      422,
      '/data/attributes/collaborator-auth-policy',
    ]);
    const { token } = await enrol(owner);
    const strict = await policy('two_factor_mandatory', token);
    expect(strict.data.attributes).toMatchObject({
      'collaborator-auth-policy': 'two_factor_mandatory',
      'two-factor-conformant': true,
    });
    const statuses = async (by: string) =>
      Promise.all(
        [place, `${place}/workspaces`, `${place}/teams`, `${place}/entitlement-set`].map(
          async (path) => (await harness.call('GET', path, undefined, by)).status,
        ),
      );
    const session = await tokenOf(signIn(harness, member.name, PASSWORD));
    for (const by of [member.token, session])
      expect(await statuses(by)).toEqual([403, 403, 403, 403]);
    const hidden = await harness.call('GET', `/workspaces/${workspace.id}`, undefined, session);
    expect([403, 404]).toContain(hidden.status);
    const listed = await harness.call('GET', '/organizations', undefined, session);
    expect(
      listed.list.map(({ id, attributes }) => [id, attributes['two-factor-conformant']]),
    ).toEqual([['strict', false]]);
    expect(await statuses(String(made.attributes['token']))).toEqual([200, 200, 200, 200]);
    // The administrator who made it is an owner like any other.
    expect(await statuses(harness.adminToken)).toEqual([403, 403, 403, 403]);
    const after = await enrol(member);
    for (const by of [member.token, after.session])
      expect(await statuses(by)).toEqual([200, 200, 200, 200]);
    await harness.call('POST', `/admin/users/${member.id}/actions/disable_two_factor`);
    expect(await statuses(member.token)).toEqual([403, 403, 403, 403]);
    expect((await policy('password', token)).status).toBe(200);
    expect(await statuses(member.token)).toEqual([200, 200, 200, 200]);
  });
});
