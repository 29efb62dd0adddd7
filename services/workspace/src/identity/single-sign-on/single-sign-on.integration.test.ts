/**
 * Sign-in at the site's provider of identities.
 *
 * | the provider says | the site permits | effect |
 * | --- | --- | --- |
 * | a person who has signed in before | | the same user, whatever the address has become |
 * | a verified address without an account | `creates-users` | a new user |
 * | a verified address that was invited | `creates-users` | the user that the invitation made |
 * | a verified address of an account | `links-users` | the user who has it |
 * | that of a site administrator | whatever | 403, unless the person has signed in before |
 * | the same | not that | 403 |
 * | an address that it has not verified, or none | | 403 |
 * | groups | `groups-claim` | a member of exactly the teams whose `sso-team-id` is one of them, where already a member |
 * | groups | `joins-organizations` too | the same in every organization |
 *
 * | a sign-in comes back | answer |
 * | --- | --- |
 * | once, within five minutes, to the browser that began it | 201, a session |
 * | again, late, to another browser, or never begun here | 403 |
 * | while the provider is away | 503; API tokens and the first token go on |
 */
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CLIENT, type OpenIdProvider, startOpenIdProvider } from '../../../test/openid-provider.ts';
import { type Harness, PUBLIC_URL, startHarness } from '../../../test/workspace-harness.ts';
import { usedSsoStates } from '../model/credential-records.ts';

const NONCE = 'n'.repeat(43);
const OFF = {
  'creates-users': false,
  'links-users': false,
  'joins-organizations': false,
  'groups-claim': null,
  'two-factor': false,
};
let harness: Harness;
let provider: OpenIdProvider;
let serial = 0;

const settings = (attributes: object, on: Harness = harness, token?: string) =>
  on.call('PATCH', '/admin/sso-settings', { data: { type: 'sso-settings', attributes } }, token);

beforeAll(async () => {
  provider = await startOpenIdProvider(`${PUBLIC_URL}/app/sign-in/return`);
  harness = await startHarness({ config: { outboundRanges: ['127.0.0.0/8'] } });
  await settings({
    enabled: true,
    title: 'the provider',
    issuer: provider.issuer,
    'client-id': CLIENT.id,
    'client-secret': CLIENT.secret,
  });
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});
beforeEach(() => settings(OFF));

const post = (path: string, attributes: object) =>
  harness.call('POST', path, { data: { type: 'sso-logins', attributes } }, null);

const begin = async (nonce = NONCE): Promise<string> => {
  const { data } = await post('/sso-logins', { 'client-nonce': nonce });
  return String(data.attributes['authorization-url']);
};

const finish = (answer: URLSearchParams, nonce = NONCE) =>
  post('/sso-logins/actions/finish', {
    ...Object.fromEntries(answer),
    'client-nonce': nonce,
  });

const newPerson = (claims: object = {}): string => {
  const subject = `s-${(serial += 1)}`;
  const email = `${subject}@keelson.example`;
  provider.people.set(subject, { email, email_verified: true, ...claims });
  return subject;
};

const signIn = async (subject: string) => finish(await provider.signIn(await begin(), subject));

const answerOf = async (reply: ReturnType<typeof signIn>) => {
  const { status, errors } = await reply;
  return [status, errors[0]?.detail];
};
const refused = (text: string) => [403, expect.stringContaining(text)];

const userOf = async (reply: Awaited<ReturnType<typeof signIn>>) => {
  const token = String(reply.data.attributes['token']);
  return { token, ...(await harness.call('GET', '/account/details', undefined, token)).data };
};

describe('a person', () => {
  test('gets an account where the site permits it, and the same one ever after', async () => {
    const subject = newPerson({ preferred_username: 'grace hopper' });
    expect(await answerOf(signIn(subject))).toEqual(refused('has no account here'));
    await settings({ 'creates-users': true });
    const reply = await signIn(subject);
    expect([reply.status, reply.data.type]).toEqual([201, 'sessions']);
    const user = await userOf(reply);
    expect(user.attributes).toMatchObject({
      username: 'grace-hopper',
      email: `${subject}@keelson.example`,
      'is-sso-login': true,
      'is-site-admin': false,
    });
    provider.people.set(subject, { email: 'married@keelson.example', email_verified: true });
    await settings(OFF);
    expect((await userOf(await signIn(subject))).id).toBe(user.id);
  });

  test('is taken for the user of a verified address only where the site permits it', async () => {
    const subject = newPerson();
    const { id } = await harness.create('/admin/users', 'users', {
      username: subject,
      email: `${subject}@keelson.example`,
    });
    await settings({ 'creates-users': true });
    expect(await answerOf(signIn(subject))).toEqual(refused('another account has the mail'));
    await settings({ 'links-users': true });
    expect((await userOf(await signIn(subject))).id).toBe(id);
  });

  test.for([
    ['stated', false],
    ['invited', true],
  ] as const)(
    'is not taken for a site administrator whose address was %s, unless linked before',
    async ([, isInvited]) => {
      const subject = newPerson();
      const email = `${subject}@keelson.example`;
      const organization = { name: `of-${subject}`, email: 'a@b.example' };
      await harness.create('/organizations', 'organizations', organization);
      const path = `/organizations/of-${subject}/organization-memberships`;
      const made = isInvited
        ? await harness.create(path, 'organization-memberships', { email })
        : await harness.create('/admin/users', 'users', { username: subject, email });
      const invited = made.relationships['user']?.data as { id: string } | undefined;
      const id = invited?.id ?? made.id;
      const act = (action: string) => harness.call('POST', `/admin/users/${id}/actions/${action}`);
      await act('grant_admin');
      await settings({ 'creates-users': true, 'links-users': true });
      expect(await answerOf(signIn(subject))).toEqual(refused('an administrator of the site'));
      await act('revoke_admin');
      expect((await userOf(await signIn(subject))).id).toBe(id);
      await act('grant_admin');
      const again = await userOf(await signIn(subject));
      expect([again.id, again.attributes['is-site-admin']]).toEqual([id, true]);
    },
  );

  test.for([
    ['unverified', { email_verified: false }],
    ['verified in words', { email_verified: 'true' }],
    ['absent', { email: undefined }],
    ['no address', { email: 'Grace <grace@keelson.example>' }],
    ['several', { email: ['a@b.example', 'c@d.example'] }],
  ] as const)('whose address is %s gets no account', async ([, claims]) => {
    await settings({ 'creates-users': true, 'links-users': true });
    expect(await answerOf(signIn(newPerson(claims)))).toEqual(refused('has not verified'));
  });

  test.for(['creates-users', 'links-users'])('who is invited accepts it by %s', async (setting) => {
    const name = `guests-of-${setting}`;
    await harness.create('/organizations', 'organizations', { name, email: 'a@b.example' });
    const subject = newPerson();
    const email = `${subject}@keelson.example`;
    const invited = `/organizations/${name}/organization-memberships`;
    const membership = await harness.create(invited, 'organization-memberships', { email });
    expect(await answerOf(signIn(subject))).toEqual(refused('another account has the mail'));
    await settings({ [setting]: true });
    const { id } = await userOf(await signIn(subject));
    expect(membership.relationships['user']?.data).toEqual({ type: 'users', id });
    const shown = await harness.call('GET', `/organization-memberships/${membership.id}`);
    expect(shown.data.attributes['status']).toBe('active');
  });

  test('whose account is suspended is refused, and was signed out', async () => {
    await settings({ 'creates-users': true });
    const subject = newPerson();
    const { id, token } = await userOf(await signIn(subject));
    await harness.call('POST', `/admin/users/${id}/actions/suspend`);
    expect(await answerOf(signIn(subject))).toEqual(refused('suspended'));
    expect((await harness.call('GET', '/account/details', undefined, token)).status).toBe(401);
  });

  test('is nobody once the account is erased, and may become somebody else', async () => {
    await settings({ 'creates-users': true });
    const subject = newPerson();
    const { id } = await userOf(await signIn(subject));
    await harness.call('DELETE', `/admin/users/${id}`);
    await settings(OFF);
    expect(await answerOf(signIn(subject))).toEqual(refused('has no account here'));
  });
});

describe('teams', () => {
  test('have the people of their group, at each sign-in, and other teams are left alone', async () => {
    const place = '/organizations/grouped';
    await harness.create('/organizations', 'organizations', {
      name: 'grouped',
      email: 'a@b.example',
    });
    const team = async (name: string, group?: string) =>
      (
        await harness.create(`${place}/teams`, 'teams', {
          name,
          ...(group !== undefined && { 'sso-team-id': group }),
        })
      ).id;
    const [web, ops] = [await team('web', 'group/web'), await team('ops', 'group ops ✓')];
    const byHand = await team('by-hand');
    await settings({
      'creates-users': true,
      'groups-claim': 'groups',
      'joins-organizations': true,
    });
    const subject = newPerson({ groups: ['group/web', 'unknown'] });
    const { id } = await userOf(await signIn(subject));
    const members = { data: [{ type: 'users', id }] };
    await harness.call('POST', `/teams/${byHand}/relationships/users`, members);
    const teamsOf = async () => {
      const { list } = await harness.call('GET', `${place}/organization-memberships?q=${subject}`);
      const teams = list[0]?.relationships['teams']?.data as readonly { id: string }[] | undefined;
      return new Set(teams?.map((one) => one.id));
    };
    expect(await teamsOf()).toEqual(new Set([web, byHand]));
    const claims = { email: `${subject}@keelson.example`, email_verified: true };
    provider.people.set(subject, { ...claims, groups: ['group ops ✓'] });
    await signIn(subject);
    expect(await teamsOf()).toEqual(new Set([ops, byHand]));
    // A single group may be a text, and without the claim there are none.
    provider.people.set(subject, { ...claims, groups: 'group/web' });
    await signIn(subject);
    expect(await teamsOf()).toEqual(new Set([web, byHand]));
    provider.people.set(subject, claims);
    await signIn(subject);
    expect(await teamsOf()).toEqual(new Set([byHand]));
  });

  test('of another organization draw nobody in, unless the site permits it', async () => {
    const [own, other] = ['drawn', 'drawing'];
    const teamOf = async (organization: string, name: string, group: string) => {
      const attributes = { name, 'sso-team-id': group };
      return (await harness.create(`/organizations/${organization}/teams`, 'teams', attributes)).id;
    };
    for (const name of [own, other])
      await harness.create('/organizations', 'organizations', { name, email: 'a@b.example' });
    const subject = newPerson({ groups: ['staff'] });
    const email = `${subject}@keelson.example`;
    const memberships = `/organizations/${own}/organization-memberships`;
    await harness.create(memberships, 'organization-memberships', { email });
    const wanted = await teamOf(own, 'staff', 'staff');
    await teamOf(other, 'guessed', 'staff');
    await settings({ 'creates-users': true, 'groups-claim': 'groups' });
    const { token } = await userOf(await signIn(subject));
    const seen = async () =>
      (await harness.call('GET', '/organizations', undefined, token)).list.map(({ id }) => id);
    expect(await seen()).toEqual([own]);
    const { list } = await harness.call('GET', `${memberships}?q=${subject}`);
    expect(list[0]?.relationships['teams']?.data).toEqual([{ type: 'teams', id: wanted }]);
    await settings({ 'joins-organizations': true });
    await signIn(subject);
    expect((await seen()).toSorted()).toEqual([own, other].toSorted());
  });

  test('of owners keep the last one', async () => {
    const { id: adminId } = (await harness.call('GET', '/account/details')).data;
    await harness.create('/organizations', 'organizations', {
      name: 'owned',
      email: 'a@b.example',
    });
    const { list } = await harness.call('GET', '/organizations/owned/teams');
    const owners = list[0]?.id ?? '';
    await harness.call('PATCH', `/teams/${owners}`, {
      data: { type: 'teams', attributes: { 'sso-team-id': 'owners of owned' } },
    });
    await settings({
      'creates-users': true,
      'groups-claim': 'groups',
      'joins-organizations': true,
    });
    const subject = newPerson({ groups: ['owners of owned'] });
    const { token } = await userOf(await signIn(subject));
    const leave = { data: [{ type: 'users', id: adminId }] };
    await harness.call('DELETE', `/teams/${owners}/relationships/users`, leave, token);
    provider.people.set(subject, {});
    await signIn(subject);
    const shown = await harness.call('GET', '/organizations/owned', undefined, token);
    expect(shown.status).toBe(200);
  });
});

describe('a sign-in', () => {
  test('begins with PKCE, state and nonce, stores nothing, and comes back to the public address', async () => {
    const before = await harness.store.position();
    const address = new URL(await begin());
    expect(Object.fromEntries(address.searchParams)).toEqual({
      client_id: CLIENT.id,
      redirect_uri: `${PUBLIC_URL}/app/sign-in/return`,
      response_type: 'code',
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]+$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(await harness.store.position()).toEqual(before);
  });

  test('ends once, in the browser that began it, within five minutes', async () => {
    await settings({ 'creates-users': true });
    const subject = newPerson();
    const answer = await provider.signIn(await begin(), subject);
    expect(await answerOf(finish(answer, 'm'.repeat(43)))).toEqual(refused('another browser'));
    const both = await Promise.all([finish(answer), finish(answer)]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 403]);
    expect(await answerOf(finish(answer))).toEqual(refused('has ended already'));
    const late = await provider.signIn(await begin(), subject);
    harness.clock.advance(5 * 60_000);
    expect(await answerOf(finish(late))).toEqual(refused('has expired'));
    await harness.runUpkeep();
    expect(await usedSsoStates.keys(harness.store, [])).toEqual([]);
  });

  test.for([
    ['a state of nobody', { state: 'x' }, 'was not begun here'],
    ['an empty state', { state: '' }, 'was not begun here'],
    ['no code', { code: '' }, 'has sent no code'],
  ] as const)('is refused with %s', async ([, change, text]) => {
    const answer = await provider.signIn(await begin(), newPerson());
    for (const [name, value] of Object.entries(change)) answer.set(name, value);
    expect(await answerOf(finish(answer))).toEqual(refused(text));
  });

  test('with the code of another sign-in is not redeemed', async () => {
    await settings({ 'creates-users': true });
    const [own, stolen] = [
      await provider.signIn(await begin(), newPerson()),
      await provider.signIn(await begin(), newPerson()),
    ];
    own.set('code', stolen.get('code') ?? '');
    expect((await finish(own)).status).toBe(503);
  });

  test('with a token that no key of the provider has signed is refused', async () => {
    await settings({ 'creates-users': true });
    const subject = newPerson();
    provider.hasOtherKeys = true;
    expect((await signIn(subject)).status).toBe(503);
    provider.hasOtherKeys = false;
    expect((await signIn(subject)).status).toBe(201);
  });

  test('is off without settings, and for sessions that it has begun when it is switched off', async () => {
    await settings({ 'creates-users': true });
    const { token } = await userOf(await signIn(newPerson()));
    const methods = async () =>
      (await harness.call('GET', '/sign-in-methods', undefined, null)).data.attributes;
    expect((await methods())['single-sign-on']).toBe('the provider');
    await settings({ enabled: false });
    expect((await methods())['single-sign-on']).toBe(null);
    expect((await post('/sso-logins', { 'client-nonce': NONCE })).status).toBe(403);
    expect((await harness.call('GET', '/account/details', undefined, token)).status).toBe(401);
    await settings({ enabled: true });
  });

  test('waits for no provider that is away, and tokens go on', async () => {
    await using away = await startHarness({ config: { outboundRanges: ['127.0.0.0/8'] } });
    await settings(
      {
        enabled: true,
        issuer: 'http://127.0.0.1:1',
        'client-id': CLIENT.id,
        'client-secret': CLIENT.secret,
      },
      away,
    );
    const begun = await away.call(
      'POST',
      '/sso-logins',
      { data: { type: 'sso-logins', attributes: { 'client-nonce': NONCE } } },
      null,
    );
    expect(begun.status).toBe(503);
    expect((await away.call('GET', '/account/details')).status).toBe(200);
  });
});

describe('the settings', () => {
  test('never show the secret, and need all that a sign-in needs', async () => {
    const { data } = await harness.call('GET', '/admin/sso-settings');
    expect(data.attributes).toMatchObject({
      'has-client-secret': true,
      'redirect-uri': `${PUBLIC_URL}/app/sign-in/return`,
    });
    expect(JSON.stringify(data)).not.toContain(CLIENT.secret);
    for (const [name, value] of [
      ['issuer', ''],
      ['issuer', 'ftp://provider.example'],
      ['client-id', ''],
      ['client-secret', ''],
      ['title', ''],
    ] as const) {
      const { status, errors } = await settings({ [name]: value });
      expect([name, status, errors[0]?.source?.pointer]).toEqual([
        name,
        422,
        `/data/attributes/${name}`,
      ]);
    }
    await using bare = await startHarness({ config: { publicUrl: undefined } as object });
    const { errors } = await settings(
      { enabled: true, issuer: 'https://p.example', 'client-id': 'a', 'client-secret': 'b' },
      bare,
    );
    expect(errors[0]?.source?.pointer).toBe('/data/attributes/enabled');
  });

  test('send the secret to no other issuer: it is needed again', async () => {
    const other = await settings({ issuer: 'https://other.example' });
    expect([other.status, other.errors[0]?.source?.pointer]).toEqual([
      422,
      '/data/attributes/client-secret',
    ]);
    const { data } = await harness.call('GET', '/admin/sso-settings');
    expect(data.attributes['issuer']).toBe(provider.issuer);
    const same = { issuer: provider.issuer, 'client-id': CLIENT.id };
    expect((await settings(same)).status).toBe(200);
    const moved = { issuer: 'https://other.example', 'client-secret': 'its own' };
    expect((await settings(moved)).status).toBe(200);
    expect((await settings({ ...same, 'client-secret': CLIENT.secret })).status).toBe(200);
  });

  test('of SAML are not there', async () => {
    for (const method of ['GET', 'PATCH'])
      expect((await harness.call(method, '/admin/saml-settings')).status).toBe(404);
  });

  test('entitle organizations to single sign-on where groups of the provider are those of teams', async () => {
    await harness.create('/organizations', 'organizations', {
      name: 'entitled',
      email: 'a@b.example',
    });
    const shown = async () => {
      const { data } = await harness.call('GET', '/organizations/entitled/entitlement-set');
      const { data: organization } = await harness.call('GET', '/organizations/entitled');
      return [data.attributes['sso'], organization.attributes['saml-enabled']];
    };
    expect(await shown()).toEqual([false, false]);
    await settings({ 'groups-claim': 'groups' });
    expect(await shown()).toEqual([true, false]);
    await settings({ enabled: false });
    expect(await shown()).toEqual([false, false]);
    await settings({ enabled: true });
  });

  test('choose scopes, the claim of the name and the authorities of the provider', async () => {
    await settings({ scopes: ['email', 'staff'], 'username-claim': 'nickname' });
    const address = new URL(await begin());
    expect(address.searchParams.get('scope')).toBe('openid email staff');
    const authority = rootCertificates[0] ?? '';
    const shown = await settings({ 'ca-certificates': authority });
    expect(shown.data.attributes).toMatchObject({
      scopes: ['email', 'staff'],
      'username-claim': 'nickname',
      'ca-certificates': authority,
    });
    for (const wrong of [
      'no certificate',
      '-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----',
      `${authority}\n-----BEGIN PRIVATE KEY-----\nbm8=\n-----END PRIVATE KEY-----`,
    ]) {
      // While the provider is off as well: what is stored is used as soon as it is on.
      const { status, errors } = await settings({ 'ca-certificates': wrong, enabled: false });
      expect([status, errors[0]?.source?.pointer]).toEqual([
        422,
        '/data/attributes/ca-certificates',
      ]);
    }
    await settings({
      scopes: ['email', 'profile'],
      'username-claim': 'preferred_username',
      'ca-certificates': null,
    });
    for (const scopes of [['two words'], ['"'], Array.from({ length: 21 }, () => 'x')])
      expect((await settings({ scopes })).status).toBe(422);
  });

  test('may say that the provider asks for a second factor, which organizations then accept', async () => {
    await settings({
      'creates-users': true,
      'two-factor': true,
      'groups-claim': 'groups',
      'joins-organizations': true,
    });
    const place = '/organizations/factor';
    await harness.create('/organizations', 'organizations', {
      name: 'factor',
      email: 'a@b.example',
    });
    const { list } = await harness.call('GET', `${place}/teams`);
    await harness.call('PATCH', `/teams/${list[0]?.id}`, {
      data: { type: 'teams', attributes: { 'sso-team-id': 'owners of factor' } },
    });
    const { token } = await userOf(await signIn(newPerson({ groups: ['owners of factor'] })));
    const changed = await harness.call(
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
    expect(changed.status).toBe(200);
    const show = async (by?: string) => (await harness.call('GET', place, undefined, by)).status;
    expect([await show(token), await show()]).toEqual([200, 403]);
    await settings({ 'two-factor': false });
    expect(await show(token)).toBe(403);
  });
});
