/**
 * Passkeys of accounts.
 *
 * | whoever | effect |
 * | --- | --- |
 * | is invited | makes a passkey by the link, and is signed in |
 * | has signed in | adds one: with the password, or with a passkey where there is no password |
 * | has a passkey | signs in with it alone, which counts as two factors |
 * | signs in with what is unknown, wrong, spent, or of somebody suspended | one answer: 401 |
 * | removes the last way in | 409 |
 * | has lost the device | a new password by mail, which removes the passkeys only if asked |
 * | has lost it to a thief | an administrator removes all passkeys, and every session ends |
 */
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
  signIn as signInByPassword,
  startSite,
  tokenOf,
} from '../../../test/password-accounts.ts';
import { type Harness, PUBLIC_URL, startHarness } from '../../../test/workspace-harness.ts';
import { signInLockouts } from '../model/credential-records.ts';
import { passkeyRecords, passkeyUses } from '../model/passkey-records.ts';

type Device = ReturnType<typeof openSoftwareAuthenticator>;

let site: Site;
let harness: Harness;
let serial = 0;

beforeAll(async () => {
  site = await startSite();
  ({ harness } = site);
});
afterAll(() => site[Symbol.asyncDispose]());
beforeEach(() => enablePasswords(harness, { 'passkeys-enabled': true }));

const send = (method: string, path: string, type: string, attributes: object, by?: string | null) =>
  harness.call(method, path, { data: { type, attributes } }, by, { 'user-agent': 'Firefox' });

const newAccount = (...teamIds: readonly string[]): Promise<Account> =>
  addAccount(harness, site.mail, `holder-${(serial += 1)}`, ...teamIds);

const sessionOf = (account: Account): Promise<string> =>
  tokenOf(signInByPassword(harness, account.name, PASSWORD));

/** The questions for a new passkey of whoever has this session. */
const begin = async (by: string) => {
  const reply = await harness.call('POST', '/account/passkeys/actions/begin', undefined, by);
  const { attributes } = reply.data;
  return {
    registration: attributes['registration'] as object,
    confirmation: attributes['sign-in'] as object | null,
  };
};

const create = async (device: Device, by: string, origin = PUBLIC_URL): Promise<object> =>
  device.create(origin, (await begin(by)).registration);

const add = (by: string, credential: object, extra: object = {}) =>
  send(
    'POST',
    '/account/passkeys',
    'passkeys',
    { name: 'the phone', credential, 'current-password': PASSWORD, ...extra },
    by,
  );

/** An account with a password and a passkey. */
const newHolder = async (...teamIds: readonly string[]) => {
  const account = await newAccount(...teamIds);
  const device = openSoftwareAuthenticator();
  const session = await sessionOf(account);
  const added = await add(session, await create(device, session));
  expect(added.status).toBe(201);
  return { account, device, session, id: added.data.id };
};

const challenge = async (): Promise<object> =>
  (await harness.call('POST', '/passkey-challenges', undefined, null)).data.attributes[
    'sign-in'
  ] as object;

const present = async (device: Device, origin = PUBLIC_URL): Promise<object> =>
  device.get(origin, await challenge());

const enter = (credential: object) =>
  send('POST', '/passkey-challenges/actions/sign-in', 'passkey-challenges', { credential }, null);

const signIn = async (device: Device) => enter(await present(device));

const nameOf = async (token: string): Promise<unknown> =>
  (await harness.call('GET', '/account/details', undefined, token)).data.attributes['username'];

const list = async (by: string) =>
  (await harness.call('GET', '/account/passkeys', undefined, by)).list.map(
    ({ attributes }) => attributes,
  );

const REFUSED = [401, 'the passkey is not accepted: begin again, or sign in in another way'];
const answerOf = async (reply: ReturnType<typeof enter>) => {
  const { status, errors } = await reply;
  return [status, errors[0]?.detail];
};

describe('a passkey', () => {
  test('is added by whoever has signed in and knows the password, and then signs in alone', async () => {
    const { account, device, session } = await newHolder();
    expect(await list(session)).toEqual([
      {
        name: 'the phone',
        'created-at': expect.any(String),
        'last-used-at': null,
        'is-synced': expect.any(Boolean),
      },
    ]);
    const entered = await signIn(device);
    const token = String(entered.data.attributes['token']);
    expect([entered.status, await nameOf(token)]).toEqual([201, account.name]);
    expect(entered.data.relationships['user']?.data).toEqual({ type: 'users', id: account.id });
    expect((await list(session))[0]?.['last-used-at']).not.toBeNull();
    const sessions = await harness.call('GET', '/account/sessions', undefined, token);
    expect(sessions.list.map(({ attributes }) => attributes['is-current'])).toContain(true);
  });

  test('is a discoverable one, for which the authenticator has to know its person', async () => {
    const { registration } = await begin(await sessionOf(await newAccount()));
    expect(registration).toMatchObject({
      rp: { id: 'keelson.example' },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    expect(await challenge()).not.toHaveProperty('allowCredentials');
  });

  test('is not added by an API token, without the password, or with a wrong one', async () => {
    const account = await newAccount();
    const device = openSoftwareAuthenticator();
    const session = await sessionOf(account);
    const credential = await create(device, session);
    const withToken = await harness.call(
      'POST',
      '/account/passkeys/actions/begin',
      undefined,
      account.token,
    );
    expect([withToken.status, (await add(account.token, credential)).status]).toEqual([403, 403]);
    for (const password of [undefined, 'wrong']) {
      const refused = await add(session, credential, { 'current-password': password });
      expect([refused.status, refused.errors[0]?.source?.pointer]).toEqual([
        422,
        '/data/attributes/current-password',
      ]);
    }
    expect(await list(session)).toEqual([]);
    expect((await add(session, credential)).status).toBe(201);
  });

  test('of an account without a password is confirmed by another one of it', async () => {
    const code = await invite(`guest-${(serial += 1)}@keelson.example`);
    const device = openSoftwareAuthenticator();
    const session = await tokenOf(accept(code, device));
    const second = openSoftwareAuthenticator();
    const { registration, confirmation } = await begin(session);
    const credential = second.create(PUBLIC_URL, registration);
    const bare = await add(session, credential, { 'current-password': undefined });
    expect([bare.status, bare.errors[0]?.source?.pointer]).toEqual([
      422,
      '/data/attributes/confirmation',
    ]);
    const other = await newHolder();
    const foreign = other.device.get(PUBLIC_URL, await challenge());
    expect((await add(session, credential, { confirmation: foreign })).status).toBe(422);
    const answer = device.get(PUBLIC_URL, confirmation as object);
    // The answer to one question is no answer to another.
    expect(await answerOf(enter(answer))).toEqual(REFUSED);
    const again = await begin(session);
    const confirmed = await add(session, second.create(PUBLIC_URL, again.registration), {
      confirmation: device.get(PUBLIC_URL, again.confirmation as object),
    });
    expect(confirmed.status).toBe(201);
    expect((await signIn(second)).status).toBe(201);
  });

  test('is not accepted twice, late, elsewhere, or for another person', async () => {
    const { device } = await newHolder();
    const once = await present(device);
    expect((await enter(once)).status).toBe(201);
    expect(await answerOf(enter(once))).toEqual(REFUSED);
    const late = await present(device);
    harness.clock.advance(5 * 60_000);
    expect(await answerOf(enter(late))).toEqual(REFUSED);
    const phished = await present(device, 'https://login.keelson.example');
    expect(await answerOf(enter(phished))).toEqual(REFUSED);
    // Five failures in a row would lock it.
    expect((await signIn(device)).status).toBe(201);
    device.behave({ verifiesPerson: false });
    expect(await answerOf(signIn(device))).toEqual(REFUSED);
    device.behave({ verifiesPerson: true });
    const { device: another } = await newHolder();
    const right = (await present(device)) as { id: string; response: object };
    const wrong = (await present(another)) as { id: string; response: object };
    expect(await answerOf(enter({ ...right, response: wrong.response }))).toEqual(REFUSED);
    expect((await signIn(device)).status).toBe(201);
  });

  test('that nobody has answers as a wrong one, and is locked like it', async () => {
    const { device } = await newHolder();
    const stranger = openSoftwareAuthenticator();
    stranger.create(PUBLIC_URL, (await begin(await sessionOf(await newAccount()))).registration);
    device.behave({ verifiesPerson: false });
    for (const one of [stranger, device]) {
      for (let attempt = 0; attempt < 4; attempt += 1)
        expect(await answerOf(signIn(one))).toEqual(REFUSED);
      const fifth = (await signIn(one)).status;
      expect([401, 429]).toContain(fifth);
      expect((await signIn(one)).status).toBe(429);
    }
    device.behave({ verifiesPerson: true });
    expect((await signIn(device)).status).toBe(429);
    harness.clock.advance(16 * 60_000);
    expect((await signIn(device)).status).toBe(201);
  });

  test('of a suspended user is refused, and its sessions end with the setting of the site', async () => {
    const { account, device, session } = await newHolder();
    const token = await tokenOf(signIn(device));
    await enablePasswords(harness, { 'passkeys-enabled': false });
    expect((await harness.call('GET', '/account/details', undefined, token)).status).toBe(401);
    expect(await nameOf(session)).toBe(account.name);
    expect((await harness.call('POST', '/passkey-challenges', undefined, null)).status).toBe(403);
    await enablePasswords(harness, { 'passkeys-enabled': true });
    await harness.call('POST', `/admin/users/${account.id}/actions/suspend`);
    expect(await answerOf(signIn(device))).toEqual(REFUSED);
  });

  test('is refused with the field that is wrong when it is made', async () => {
    const session = await sessionOf(await newAccount());
    const device = openSoftwareAuthenticator();
    const credential = (await create(device, session, 'https://evil.example').catch(
      () => undefined,
    )) as object | undefined;
    expect(credential).toBeUndefined();
    const made = (await create(device, session)) as { response: object };
    const spoilt = { ...made, response: { ...made.response, attestationObject: 'AAAA' } };
    const refused = await add(session, spoilt);
    expect([refused.status, refused.errors[0]?.source?.pointer]).toEqual([
      422,
      '/data/attributes/credential/response',
    ]);
    harness.clock.advance(5 * 60_000);
    const late = await add(session, made);
    expect([late.status, late.errors[0]?.source?.pointer]).toEqual([
      422,
      '/data/attributes/credential/response/clientDataJSON',
    ]);
  });

  test('is renamed and removed, but not the last way in; and an account has ten at most', async () => {
    const { session, id, device } = await newHolder();
    const one = `/account/passkeys/${id}`;
    const renamed = await send('PATCH', one, 'passkeys', { name: 'the old phone' }, session);
    expect(renamed.data.attributes['name']).toBe('the old phone');
    const stranger = await sessionOf(await newAccount());
    expect((await harness.call('DELETE', one, undefined, stranger)).status).toBe(404);
    await enablePasswords(harness, { 'passwords-enabled': false, 'passkeys-enabled': true });
    const token = await tokenOf(signIn(device));
    expect((await harness.call('DELETE', one, undefined, token)).status).toBe(409);
    await enablePasswords(harness, { 'passkeys-enabled': true });
    expect((await harness.call('DELETE', one, undefined, token)).status).toBe(204);
    expect([await list(token), await answerOf(signIn(device))]).toEqual([[], REFUSED]);
    for (let count = 0; count < 10; count += 1) {
      const added = await add(token, await create(openSoftwareAuthenticator(), token));
      expect(added.status).toBe(201);
    }
    const full = await harness.call('POST', '/account/passkeys/actions/begin', undefined, token);
    expect(full.status).toBe(409);
  });
});

/** Invites an address. @returns the code in the link of the mail */
const invite = async (email: string): Promise<string> => {
  await harness
    .create('/organizations', 'organizations', { name: 'inviting', email: 'a@b.example' })
    .catch(() => undefined);
  await send(
    'POST',
    '/organizations/inviting/organization-memberships',
    'organization-memberships',
    {
      email,
    },
  );
  return codeIn(harness, site.mail, 'invitation', email);
};

const accept = async (code: string, device: Device) => {
  const begun = await harness.call('POST', '/invitation/actions/begin-passkey', undefined, code);
  const credential = device.create(PUBLIC_URL, begun.data.attributes['registration'] as object);
  return send(
    'POST',
    '/invitation/actions/add-passkey',
    'invitations',
    { name: 'laptop', credential },
    code,
  );
};

describe('the link of an invitation', () => {
  test('takes a passkey in place of a password, once, and signs in', async () => {
    const email = `guest-${(serial += 1)}@keelson.example`;
    const code = await invite(email);
    const device = openSoftwareAuthenticator();
    const accepted = await accept(code, device);
    expect(accepted.status).toBe(201);
    const token = String(accepted.data.attributes['token']);
    const own = await harness.call('GET', '/account/details', undefined, token);
    expect(own.data.attributes['email']).toBe(email);
    const { list: joined } = await harness.call('GET', '/organizations', undefined, token);
    expect(joined.map(({ id }) => id)).toEqual(['inviting']);
    const again = await harness.call('POST', '/invitation/actions/begin-passkey', undefined, code);
    expect([401, 404]).toContain(again.status);
    expect((await signIn(device)).status).toBe(201);
  });
});

describe('a session of a passkey', () => {
  test('has two factors, and so have the tokens that it makes', async () => {
    const place = '/organizations/careful';
    await harness.create('/organizations', 'organizations', {
      name: 'careful',
      email: 'a@b.example',
    });
    const { list: teams } = await harness.call('GET', `${place}/teams`);
    const holder = await newHolder(teams[0]?.id ?? '');
    const policy = { 'collaborator-auth-policy': 'two_factor_mandatory' };
    const strict = (by: string) => send('PATCH', place, 'organizations', policy, by);
    expect((await strict(holder.session)).status).toBe(422);
    const token = await tokenOf(signIn(holder.device));
    expect((await strict(token)).status).toBe(200);
    const path = `/users/${holder.account.id}/authentication-tokens`;
    const made = await tokenOf(send('POST', path, 'authentication-tokens', {}, token));
    const weak = await tokenOf(send('POST', path, 'authentication-tokens', {}, holder.session));
    const show = async (by: string) => (await harness.call('GET', place, undefined, by)).status;
    expect(await Promise.all([token, made, holder.session, weak].map(show))).toEqual([
      200, 200, 403, 403,
    ]);
  });
});

describe('a new password by mail', () => {
  test('leaves the passkeys, or removes them where they are lost', async () => {
    const { account, device } = await newHolder();
    const reset = async (extra: object) => {
      harness.clock.advance(11 * 60_000);
      await requestReset(harness, account.email);
      const code = await codeIn(harness, site.mail, 'new-password', account.email);
      const given = { password: PASSWORD, ...extra };
      return send('POST', '/password-reset/actions/set-password', 'password-resets', given, code);
    };
    expect((await reset({})).status).toBe(204);
    expect((await signIn(device)).status).toBe(201);
    const token = await tokenOf(signIn(device));
    expect((await reset({ 'removes-passkeys': true })).status).toBe(204);
    expect(await answerOf(signIn(device))).toEqual(REFUSED);
    expect((await harness.call('GET', '/account/details', undefined, token)).status).toBe(401);
  });
});

describe('a site administrator', () => {
  const remove = (id: string) => harness.call('POST', `/admin/users/${id}/actions/remove_passkeys`);

  test('removes all passkeys of a user, whose sessions end and whose password stays', async () => {
    const [{ account, device, session }, other] = [await newHolder(), await newHolder()];
    const begun = await tokenOf(signIn(device));
    expect((await remove(account.id)).data.attributes['username']).toBe(account.name);
    for (const token of [session, begun])
      expect((await harness.call('GET', '/account/details', undefined, token)).status).toBe(401);
    expect(await nameOf(account.token)).toBe(account.name);
    expect(await answerOf(signIn(device))).toEqual(REFUSED);
    const again = await sessionOf(account);
    expect(await list(again)).toEqual([]);
    const uses = await passkeyUses.find(harness.store, account.id);
    expect(uses).toBeUndefined();
    const { status, errors } = await remove(account.id);
    expect([status, errors[0]?.detail]).toEqual([400, 'the user has no passkey']);
    // The device may be found again.
    expect((await add(again, await create(device, again))).status).toBe(201);
    expect((await signIn(other.device)).status).toBe(201);
  });

  test('does not do so with the own account', async () => {
    const { data } = await harness.call('GET', '/account/details');
    expect((await remove(data.id)).status).toBe(409);
  });
});

describe('the site', () => {
  test('says whether it has passkeys, and has none where browsers have none', async () => {
    const methods = async (on: Harness) =>
      (await on.call('GET', '/sign-in-methods', undefined, null)).data.attributes['passkey'];
    expect(await methods(harness)).toBe(true);
    await using plain = await startHarness({ config: { publicUrl: 'http://192.0.2.7:8200' } });
    const refused = await enablePasswords(plain, { 'passkeys-enabled': true });
    expect([refused.status, refused.errors[0]?.source?.pointer]).toEqual([
      422,
      '/data/attributes/passkeys-enabled',
    ]);
    expect(await methods(plain)).toBe(false);
    const shown = await harness.call('GET', '/admin/sign-in-settings');
    expect(Object.keys(shown.data.attributes).toSorted()).toEqual([
      'passkeys-enabled',
      'passwords-enabled',
      'session-minutes',
    ]);
  });

  test('keeps no passkey of a user who was erased', async () => {
    const { account, device } = await newHolder();
    await signIn(device);
    expect(await passkeyUses.find(harness.store, account.id)).toBeDefined();
    await harness.call('DELETE', `/admin/users/${account.id}`);
    expect(await passkeyRecords.by.userId.keys(harness.store, account.id)).toEqual([]);
    expect(await passkeyUses.find(harness.store, account.id)).toBeUndefined();
    expect(await answerOf(signIn(device))).toEqual(REFUSED);
    expect((await signInLockouts.entries(harness.store)).map(([, { name }]) => name)).not.toContain(
      account.id,
    );
  });
});
