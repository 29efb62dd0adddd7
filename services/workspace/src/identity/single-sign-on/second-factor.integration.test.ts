/**
 * Who signs in at the provider of identities, and enters an organization in which two factors are mandatory.
 * | the session | enters where two factors are mandatory |
 * | --- | --- |
 * | of a provider that asks for a second factor: always, or this time | yes |
 * | of a provider that does not, whatever the account has | no |
 * | of password and passcode | yes |
 * | an API token that one of these has made | as that one |
 */
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLIENT, type OpenIdProvider, startOpenIdProvider } from '../../../test/openid-provider.ts';
import {
  codeIn,
  PASSWORD,
  requestReset,
  type Site,
  setPassword,
  signIn as signInHere,
  startSite,
  tokenOf,
} from '../../../test/password-accounts.ts';
import { type Harness, PUBLIC_URL } from '../../../test/workspace-harness.ts';

const NONCE = 'n'.repeat(43);
let site: Site;
let harness: Harness;
let provider: OpenIdProvider;
let serial = 0;

const settings = (attributes: object) =>
  harness.call('PATCH', '/admin/sso-settings', { data: { type: 'sso-settings', attributes } });

beforeAll(async () => {
  provider = await startOpenIdProvider(`${PUBLIC_URL}/app/sign-in/return`);
  site = await startSite({ outboundRanges: ['127.0.0.0/8'] });
  ({ harness } = site);
  await settings({
    enabled: true,
    title: 'the provider',
    issuer: provider.issuer,
    'client-id': CLIENT.id,
    'client-secret': CLIENT.secret,
    'creates-users': true,
    'groups-claim': 'groups',
    'joins-organizations': true,
  });
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const newPerson = (claims: object): string => {
  const subject = `s-${(serial += 1)}`;
  const email = `${subject}@keelson.example`;
  provider.people.set(subject, { email, email_verified: true, ...claims });
  return subject;
};

const signIn = async (subject: string) => {
  const post = (path: string, attributes: object) =>
    harness.call('POST', path, { data: { type: 'sso-logins', attributes } }, null);
  const begun = await post('/sso-logins', { 'client-nonce': NONCE });
  const address = String(begun.data.attributes['authorization-url']);
  const answer = Object.fromEntries(await provider.signIn(address, subject));
  return post('/sso-logins/actions/finish', { ...answer, 'client-nonce': NONCE });
};

const userOf = async (reply: Awaited<ReturnType<typeof signIn>>) => {
  const token = String(reply.data.attributes['token']);
  return { token, ...(await harness.call('GET', '/account/details', undefined, token)).data };
};

test('that asked for one factor opens no organization that needs two, nor do the tokens made with it', async () => {
  const place = '/organizations/two';
  await harness.create('/organizations', 'organizations', { name: 'two', email: 'a@b.example' });
  const { list } = await harness.call('GET', `${place}/teams`);
  await harness.call('PATCH', `/teams/${list[0]?.id}`, {
    data: { type: 'teams', attributes: { 'sso-team-id': 'owners of two' } },
  });
  const groups = ['owners of two'];
  const careful = newPerson({ groups, amr: ['pwd', 'otp', 'mfa'] });
  const hasty = newPerson({ groups, amr: ['pwd'] });
  const two = await userOf(await signIn(careful));
  const one = await userOf(await signIn(hasty));
  const strict = (token: string) =>
    harness.call(
      'PATCH',
      place,
      {
        data: {
          type: 'organizations',
          attributes: { 'collaborator-auth-policy': 'two_factor_mandatory' },
        },
      },
      token,
    );
  expect((await strict(one.token)).status).toBe(422);
  expect((await strict(two.token)).status).toBe(200);
  const show = async (by: string) => (await harness.call('GET', place, undefined, by)).status;
  const made = async (by: string, id: string) => {
    const path = `/users/${id}/authentication-tokens`;
    const body = { data: { type: 'authentication-tokens', attributes: {} } };
    return String((await harness.call('POST', path, body, by)).data.attributes['token']);
  };
  const weak = await made(one.token, one.id);
  const weaker = await made(weak, one.id);
  expect([await show(two.token), await show(one.token)]).toEqual([200, 403]);
  expect([await show(weak), await show(weaker)]).toEqual([403, 403]);

  // The person has a password and a second factor as well, which the provider has not asked for.
  const email = String(one.attributes['email']);
  await requestReset(harness, email);
  await setPassword(harness, await codeIn(harness, site.mail, 'new-password', email), PASSWORD);
  const account = '/account/two-factor';
  const enrol = async (action: string, attributes: object, by: string) =>
    (
      await harness.call(
        'POST',
        `${account}${action}`,
        { data: { type: 'two-factors', attributes } },
        by,
      )
    ).data.attributes;
  const first = await tokenOf(signInHere(harness, email, PASSWORD));
  const begun = await enrol('', { 'current-password': PASSWORD }, first);
  const secret = Secret.fromBase32(String(begun['secret']));
  const passcode = () => new TOTP({ secret }).generate({ timestamp: harness.clock.nowMs() });
  await enrol('/actions/verify', { passcode: passcode() }, first);
  harness.clock.advance(30_000);
  const strong = await tokenOf(signInHere(harness, email, PASSWORD, { passcode: passcode() }));
  expect([await show(strong), await show(await made(strong, one.id))]).toEqual([200, 200]);
  const again = (await userOf(await signIn(hasty))).token;
  expect([await show(again), await show(weak), await show(weaker)]).toEqual([403, 403, 403]);
  await settings({ 'two-factor': true });
  expect([await show(again), await show(weak)]).toEqual([200, 403]);
  await settings({ 'two-factor': false });
  expect(await show(again)).toBe(403);
});
