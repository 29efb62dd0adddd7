/**
 * A way of signing in that is switched off ends its sessions, and no switch brings them back.
 *
 * | the site | ends for good |
 * | --- | --- |
 * | switches passwords off | sessions of passwords, and links for a new password |
 * | switches passkeys off | sessions of passkeys |
 * | switches the provider off, or names another issuer or client | sessions at the provider, and sign-ins under way |
 * | makes sessions shorter | those that are older by then; a longer time prolongs none |
 */
import type { MailServer } from '@keelson/testkit';
import { openSoftwareAuthenticator } from '@keelson/testkit/software-authenticator';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { CLIENT, type OpenIdProvider, startOpenIdProvider } from '../../../test/openid-provider.ts';
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
import { type Harness, PUBLIC_URL } from '../../../test/workspace-harness.ts';

const MINUTE_MS = 60_000;
const NONCE = 'n'.repeat(43);
let site: Site;
let harness: Harness;
let mail: MailServer;
let provider: OpenIdProvider;
let account: Account;
let serial = 0;

const provide = (attributes: object) =>
  harness.call('PATCH', '/admin/sso-settings', { data: { type: 'sso-settings', attributes } });

beforeAll(async () => {
  provider = await startOpenIdProvider(`${PUBLIC_URL}/app/sign-in/return`);
  site = await startSite({ outboundRanges: ['127.0.0.0/8'] });
  ({ harness, mail } = site);
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await enablePasswords(harness, { 'passkeys-enabled': true, 'session-minutes': 720 });
  await provide({
    enabled: true,
    title: 'the provider',
    issuer: provider.issuer,
    'client-id': CLIENT.id,
    'client-secret': CLIENT.secret,
    'creates-users': true,
  });
  account = await addAccount(harness, mail, `ending-${(serial += 1)}`);
});

const isOpen = async (token: string): Promise<boolean> =>
  (await harness.call('GET', '/account/details', undefined, token)).status === 200;

const areOpen = (...tokens: readonly string[]) => Promise.all(tokens.map(isOpen));

const byPassword = (): Promise<string> => tokenOf(signIn(harness, account.name, PASSWORD));

const byPasskey = async (): Promise<string> => {
  const device = openSoftwareAuthenticator();
  const session = await byPassword();
  const begin = '/account/passkeys/actions/begin';
  const begun = await harness.call('POST', begin, undefined, session);
  const credential = device.create(PUBLIC_URL, begun.data.attributes['registration'] as object);
  const attributes = { name: 'a phone', credential, 'current-password': PASSWORD };
  const added = { data: { type: 'passkeys', attributes } };
  expect((await harness.call('POST', '/account/passkeys', added, session)).status).toBe(201);
  const asked = await harness.call('POST', '/passkey-challenges', undefined, null);
  const answer = device.get(PUBLIC_URL, asked.data.attributes['sign-in'] as object);
  return tokenOf(
    harness.call(
      'POST',
      '/passkey-challenges/actions/sign-in',
      { data: { type: 'passkey-challenges', attributes: { credential: answer } } },
      null,
    ),
  );
};

const post = (path: string, attributes: object) =>
  harness.call('POST', path, { data: { type: 'sso-logins', attributes } }, null);

/** A person who comes back from the provider, with what the browser brings. */
const returnFromProvider = async (): Promise<object> => {
  const subject = `s-${(serial += 1)}`;
  const email = `${subject}@keelson.example`;
  provider.people.set(subject, { email, email_verified: true });
  const { data } = await post('/sso-logins', { 'client-nonce': NONCE });
  const address = String(data.attributes['authorization-url']);
  const answer = await provider.signIn(address, subject);
  return { ...Object.fromEntries(answer), 'client-nonce': NONCE };
};

const byProvider = async (): Promise<string> =>
  tokenOf(post('/sso-logins/actions/finish', await returnFromProvider()));

test('passwords that are switched off and on again bring back no session and no link', async () => {
  const [session, passkey, person] = [await byPassword(), await byPasskey(), await byProvider()];
  harness.clock.advance(10 * MINUTE_MS);
  await requestReset(harness, account.email);
  const link = await codeIn(harness, mail, 'new-password', account.email);
  await enablePasswords(harness, { 'passwords-enabled': false });
  await enablePasswords(harness);
  expect(await areOpen(session, passkey, person)).toEqual([false, true, true]);
  expect((await setPassword(harness, link, PASSWORD)).status).toBe(401);
  const listed = await harness.call('GET', '/account/sessions', undefined, passkey);
  expect(listed.list.map(({ attributes }) => attributes['is-current'])).toEqual([true]);
  expect(await isOpen(await byPassword())).toBe(true);
});

test('passkeys that are switched off and on again bring back no session', async () => {
  const [session, passkey, person] = [await byPassword(), await byPasskey(), await byProvider()];
  await enablePasswords(harness, { 'passkeys-enabled': false });
  await enablePasswords(harness, { 'passkeys-enabled': true });
  expect(await areOpen(session, passkey, person)).toEqual([true, false, true]);
  expect(await isOpen(await byPasskey())).toBe(true);
});

test.for([
  ['is switched off and on again', { enabled: false }],
  ['is another one for a while', { issuer: 'https://other.example', 'client-secret': 's' }],
  ['knows the site as another client for a while', { 'client-id': 'another' }],
  [
    'changes while it is off',
    { enabled: false, issuer: 'https://other.example', 'client-secret': 's' },
  ],
] as const)('a provider that %s brings back no session', async ([, change]) => {
  const [session, passkey, person] = [await byPassword(), await byPasskey(), await byProvider()];
  const waiting = await returnFromProvider();
  expect((await provide(change)).status).toBe(200);
  expect(await isOpen(person)).toBe(false);
  await provide({
    enabled: true,
    issuer: provider.issuer,
    'client-id': CLIENT.id,
    'client-secret': CLIENT.secret,
  });
  expect(await areOpen(session, passkey, person)).toEqual([true, true, false]);
  const finished = await post('/sso-logins/actions/finish', waiting);
  expect([finished.status, finished.errors[0]?.detail]).toEqual([
    403,
    expect.stringContaining('was not begun here'),
  ]);
  expect(await isOpen(await byProvider())).toBe(true);
});

test('a provider whose other settings change keeps its sessions', async () => {
  const person = await byProvider();
  await provide({ title: 'the same', 'client-secret': CLIENT.secret, issuer: provider.issuer });
  expect(await isOpen(person)).toBe(true);
});

test('a shorter time ends sessions that are older, and a longer one prolongs none', async () => {
  const session = await byPassword();
  const endOf = async () => {
    const { list } = await harness.call('GET', '/account/sessions', undefined, session);
    return Date.parse(String(list[0]?.attributes['expires-at']));
  };
  const beganMs = harness.clock.nowMs();
  await enablePasswords(harness, { 'session-minutes': 1440 });
  expect(await endOf()).toBe(beganMs + 720 * MINUTE_MS);
  await enablePasswords(harness, { 'session-minutes': 10 });
  expect(await endOf()).toBe(beganMs + 10 * MINUTE_MS);
  harness.clock.advance(10 * MINUTE_MS - 1);
  expect(await isOpen(session)).toBe(true);
  harness.clock.advance(1);
  expect(await isOpen(session)).toBe(false);
});

test('settings of the provider that a disk has damaged end no session of a password or passkey', async () => {
  const [session, passkey] = [await byPassword(), await byPasskey()];
  const path = 'shared/sso-settings/site';
  await harness.store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
  expect(await areOpen(session, passkey)).toEqual([true, true]);
});
