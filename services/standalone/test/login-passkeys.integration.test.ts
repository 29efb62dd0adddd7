/** Logins with a passkey as second factor, over HTTP, with an authenticator in software. */
import {
  openSoftwareAuthenticator,
  type SoftwareAuthenticator,
} from '@keelson/testkit/software-authenticator';
import { URI } from 'otpauth';
import { describe, expect, test } from 'vitest';
import { type Document, useLoginSite } from './login-site.ts';

const ORIGIN = 'https://keelson.example.com';
const METHODS = 'identity/mfa/method/webauthn';

const { call, must } = useLoginSite({ KEELSON_PUBLIC_URL: ORIGIN });

const OWN_POLICY = `path "${METHODS}/own" { capabilities = ["read"] }
path "${METHODS}/own/*" { capabilities = ["update"] }`;

let serial = 0;

/** Alice at a mount of her own, with a session, and an enforcement that asks her for a passkey from now on. */
const openAlice = async ({ namespace = '', settings = {} as object } = {}) => {
  const mount = `people-${(serial += 1)}`;
  const place = { namespace };
  await must('POST', `sys/auth/${mount}`, { type: 'userpass' }, place);
  await must('POST', `auth/${mount}/users/alice`, { password: 'pw' }, place);
  const anonymous = { token: '', namespace };
  const logIn = (headers = {}) =>
    call('POST', `auth/${mount}/login/alice`, { password: 'pw' }, { ...anonymous, headers });
  const { client_token: token, entity_id: entityId } = (await logIn()).body.auth;
  const { accessor } = (await must('GET', `sys/auth/${mount}`, undefined, place)).data;
  const named = { method_name: `key-${serial}`, ...settings };
  const { method_id: methodId } = (await must('POST', METHODS, named, place)).data;
  await must('POST', 'sys/policies/acl/own-passkeys', { policy: OWN_POLICY }, place);
  await must('POST', `identity/entity/id/${entityId}`, { policies: ['own-passkeys'] }, place);
  await must(
    'POST',
    `identity/mfa/login-enforcement/of-${mount}`,
    { mfa_method_ids: [methodId], auth_method_accessors: [accessor] },
    place,
  );
  const own = (deed: string, body: object) =>
    call('POST', `${METHODS}/own/${deed}`, { method_id: methodId, ...body }, { token, namespace });
  const device = openSoftwareAuthenticator();
  const begin = async () => (await own('begin', {})).body.data;
  /** Adds the passkey of a device, which one of another device confirms if need be. */
  const enrol = async (added: SoftwareAuthenticator = device, confirming = device) => {
    const { registration, confirmation } = await begin();
    return own('finish', {
      name: 'phone',
      credential: added.create(ORIGIN, registration),
      ...(confirmation !== null && { confirmation: confirming.get(ORIGIN, confirmation) }),
    });
  };
  const optionsOf = (auth: Document) =>
    auth.mfa_requirement.mfa_constraints[`of-${mount}`].any[0].options;
  const validate = (auth: Document, answer: unknown) =>
    call(
      'POST',
      'sys/mfa/validate',
      {
        mfa_request_id: auth.mfa_requirement.mfa_request_id,
        mfa_payload: { [methodId]: [answer] },
      },
      anonymous,
    );
  /** Begins a login, and signs its challenge. */
  const sign = async (used = device, origin = ORIGIN) => {
    const { auth } = (await logIn()).body;
    return { auth, answer: used.get(origin, optionsOf(auth)) };
  };
  return {
    mount,
    accessor,
    token,
    entityId,
    methodId,
    device,
    logIn,
    own,
    begin,
    enrol,
    optionsOf,
    validate,
    sign,
    read: async () => (await must('GET', `${METHODS}/own`, undefined, { token, namespace })).data,
  };
};

const failed = (text: string) => ({
  status: 403,
  body: { errors: [`login MFA validation failed: ${text}`] },
});

const refused = (text: string) => ({ status: 400, body: { errors: [text] } });

describe('a login that needs a passkey', () => {
  test('has no token until the passkey has signed its challenge, once', async () => {
    const alice = await openAlice();
    expect((await alice.enrol()).status).toBe(200);
    const { auth } = (await alice.logIn()).body;
    expect(auth).toMatchObject({
      client_token: '',
      mfa_requirement: {
        mfa_constraints: {
          [`of-${alice.mount}`]: {
            any: [
              {
                type: 'webauthn',
                id: alice.methodId,
                name: `key-${serial}`,
                uses_passcode: false,
                options: {
                  rpId: 'keelson.example.com',
                  userVerification: 'required',
                  allowCredentials: [{ type: 'public-key' }],
                },
              },
            ],
          },
        },
      },
    });
    const earlier = await alice.sign();
    const answer = alice.device.get(ORIGIN, alice.optionsOf(auth));
    const { status, body } = await alice.validate(auth, answer);
    expect([status, body.auth.entity_id]).toEqual([200, alice.entityId]);
    const own = { token: body.auth.client_token };
    expect((await call('GET', 'auth/token/lookup-self', undefined, own)).status).toBe(200);
    expect((await alice.validate(auth, answer)).body.errors).toEqual([
      expect.stringContaining('mfa_request_id is unknown'),
    ]);
    // The authenticator counts, and so does the server.
    expect(await alice.validate(earlier.auth, earlier.answer)).toEqual(
      failed(
        'response.authenticatorData: the authenticator has counted back, as a copy of it would: remove the passkey',
      ),
    );
    const { passkeys } = await alice.read();
    expect(passkeys).toMatchObject([
      { name: 'phone', sign_count: 2, last_use_time: expect.stringMatching(/^20.*Z$/) },
    ]);
  });

  test('accepts one signature once, however many present it, from a device that does not count', async () => {
    const alice = await openAlice();
    alice.device.behave({ countStep: 0 });
    await alice.enrol();
    const { auth, answer } = await alice.sign();
    const answers = await Promise.all(
      // Clients that send only texts send its JSON.
      Array.from({ length: 20 }, (_, index) =>
        alice.validate(auth, index % 2 === 0 ? answer : JSON.stringify(answer)),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('is not finished by the signature for another login, of another person, or for a change', async () => {
    const [alice, bob] = [await openAlice(), await openAlice()];
    for (const person of [alice, bob]) await person.enrol();
    const [first, second] = [await alice.sign(), await alice.sign()];
    const expired = failed(
      'response.clientDataJSON: the challenge has expired, or was not made for this: begin again',
    );
    expect(await alice.validate(first.auth, second.answer)).toEqual(expired);
    const foreign = await bob.sign();
    expect(await alice.validate(first.auth, foreign.answer)).toEqual(
      failed('id: the passkey is not one of the entity'),
    );
    const { confirmation } = await alice.begin();
    expect(await alice.validate(first.auth, alice.device.get(ORIGIN, confirmation))).toEqual(
      expired,
    );
    // Nor is a change confirmed by the signature for a login.
    const { registration } = await alice.begin();
    const thief = openSoftwareAuthenticator();
    const stolen = {
      credential: thief.create(ORIGIN, registration),
      confirmation: (await alice.sign()).answer,
    };
    expect((await alice.own('finish', stolen)).body.errors[0]).toContain(
      'confirmation: response.clientDataJSON: the challenge has expired',
    );
    expect((await alice.validate(second.auth, second.answer)).status).toBe(200);
  });

  test.for([
    ['from another origin', {}, 'https://evil.keelson.example.com', 'the origin is not one of'],
    [
      'without the person verified',
      { verifiesPerson: false },
      ORIGIN,
      'has not verified the person',
    ],
    ['by a copy that counts back', { countStep: -1 }, ORIGIN, 'counted back'],
  ] as const)('is refused %s', async ([, behaviour, origin, text]) => {
    const alice = await openAlice();
    await alice.enrol();
    const before = await alice.sign();
    expect((await alice.validate(before.auth, before.answer)).status).toBe(200);
    alice.device.behave(behaviour);
    const { auth, answer } = await alice.sign(alice.device, origin);
    const { status, body } = await alice.validate(auth, answer);
    expect([status, body.errors[0]]).toEqual([403, expect.stringContaining(text)]);
  });

  test('waits after some failures, with the right passkey as well', async () => {
    const alice = await openAlice({ settings: { max_validation_attempts: 3 } });
    await alice.enrol();
    const { auth, answer } = await alice.sign();
    for (const wrong of ['123456', {}, { ...answer, id: 'AAAA', rawId: 'AAAA' }])
      expect((await alice.validate(auth, wrong)).status).toBe(403);
    expect((await alice.validate(auth, answer)).body.errors[0]).toMatch(
      /too many failed attempts: try again in (30|29|28) seconds$/,
    );
  });

  test('says so when there is no passkey, no challenge, or too long an answer', async () => {
    const alice = await openAlice();
    const { auth } = (await alice.logIn()).body;
    expect(alice.optionsOf(auth)).toBeNull();
    expect(await alice.validate(auth, {})).toEqual(
      failed(`the entity has no passkey for the MFA method ${alice.methodId}`),
    );
    const { body } = await alice.logIn({ 'x-vault-mfa': `${alice.methodId}:123456` });
    expect(body.errors[0]).toContain('needs a passkey, with which sys/mfa/validate finishes');
    await alice.enrol();
    const signed = await alice.sign();
    const response = { ...signed.answer.response, signature: 'A'.repeat(2049) };
    expect(
      (await alice.validate(signed.auth, { ...signed.answer, response })).body.errors[0],
    ).toMatch(/response\.signature: .*2048/);
    expect((await alice.validate(signed.auth, 'A'.repeat(40_000))).status).toBe(400);
  });

  test('ends with the passkey, the user and the entity, also in the middle', async () => {
    const alice = await openAlice();
    await alice.enrol();
    const { auth, answer } = await alice.sign();
    await must('POST', `${METHODS}/admin-destroy`, {
      method_id: alice.methodId,
      entity_id: alice.entityId,
    });
    expect((await alice.validate(auth, answer)).body.errors[0]).toContain('has no passkey');
    await alice.enrol();
    const again = await alice.sign();
    await must('POST', `identity/entity/id/${alice.entityId}`, { disabled: true });
    expect((await alice.validate(again.auth, again.answer)).status).toBe(403);
  });

  test('may be finished with a passcode instead where the enforcement names both', async () => {
    const alice = await openAlice();
    await alice.enrol();
    const { method_id: app } = (
      await must('POST', 'identity/mfa/method/totp', { issuer: 'Keelson' })
    ).data;
    const { url } = (
      await must('POST', 'identity/mfa/method/totp/admin-generate', {
        method_id: app,
        entity_id: alice.entityId,
      })
    ).data;
    await must('POST', `identity/mfa/login-enforcement/of-${alice.mount}`, {
      mfa_method_ids: [alice.methodId, app],
      auth_method_accessors: [alice.accessor],
    });
    const { auth } = (await alice.logIn()).body;
    const passcode = URI.parse(url).generate();
    const payload = {
      mfa_request_id: auth.mfa_requirement.mfa_request_id,
      mfa_payload: { [app]: [passcode] },
    };
    expect((await call('POST', 'sys/mfa/validate', payload, { token: '' })).status).toBe(200);
    const { auth: other, answer } = await alice.sign();
    expect((await alice.validate(other, answer)).status).toBe(200);
  });
});

describe('a passkey', () => {
  test('is added with the confirmation of another one, renamed, and removed', async () => {
    const alice = await openAlice();
    await alice.enrol();
    const laptop = openSoftwareAuthenticator();
    const { registration } = await alice.begin();
    expect(registration.user).toMatchObject({ name: 'alice', displayName: 'alice' });
    const unconfirmed = { credential: laptop.create(ORIGIN, registration) };
    expect(await alice.own('finish', unconfirmed)).toEqual(
      refused('confirmation is missing: a passkey that the entity has confirms the change'),
    );
    expect((await alice.enrol(laptop)).status).toBe(200);
    const { methods, passkeys } = await alice.read();
    expect(methods).toContainEqual({
      id: alice.methodId,
      name: expect.stringMatching(/^key-/),
      relying_party_name: 'Keelson',
    });
    expect(passkeys).toHaveLength(2);
    const [{ id }, { id: other }] = passkeys;
    await alice.own('rename', { passkey_id: other, name: 'laptop' });
    expect((await alice.read()).passkeys[1].name).toBe('laptop');
    const { confirmation } = await alice.begin();
    const remove = { passkey_id: id, confirmation: laptop.get(ORIGIN, confirmation) };
    expect((await alice.own('remove', remove)).status).toBe(204);
    expect((await alice.read()).passkeys).toMatchObject([{ id: other }]);
    // The confirmation was used.
    expect((await alice.own('remove', { ...remove, passkey_id: other })).status).toBe(400);
    const { auth, answer } = await alice.sign(laptop);
    expect((await alice.validate(auth, answer)).status).toBe(200);
  });

  test('is not registered again with what was sent before', async () => {
    const alice = await openAlice();
    const { registration } = await alice.begin();
    const sent = { credential: alice.device.create(ORIGIN, registration) };
    expect((await alice.own('finish', sent)).status).toBe(200);
    const place = { method_id: alice.methodId, entity_id: alice.entityId };
    await must('POST', `${METHODS}/admin-destroy`, place);
    expect(await alice.own('finish', sent)).toEqual(
      refused(
        'credential.response.clientDataJSON: the challenge has been used already: begin again',
      ),
    );
  });

  test('is one of ten at most', async () => {
    const alice = await openAlice();
    for (let turn = 0; turn < 10; turn += 1)
      expect(
        (await alice.enrol(turn === 0 ? alice.device : openSoftwareAuthenticator())).status,
      ).toBe(200);
    expect((await alice.begin()).registration).toBeNull();
  });

  test('is made for whoever has signed in only, and shown to its owner and to administrators', async () => {
    const [alice, bob] = [await openAlice(), await openAlice()];
    await alice.enrol();
    expect(await call('GET', `${METHODS}/own`)).toEqual(
      refused('the token has no entity: only who has signed in has a second factor'),
    );
    expect((await bob.read()).passkeys).toEqual([]);
    const of = `${METHODS}/entity/${alice.entityId}`;
    expect((await must('GET', of)).data.passkeys).toHaveLength(1);
    expect((await call('GET', of, undefined, { token: bob.token })).status).toBe(403);
    const { id } = (await alice.read()).passkeys[0];
    const foreign = { method_id: alice.methodId, passkey_id: id, name: 'mine' };
    expect(
      (await call('POST', `${METHODS}/own/rename`, foreign, { token: bob.token })).body.errors,
    ).toEqual(['passkey_id: the entity has no such passkey for the MFA method']);
    await must('POST', `${METHODS}/admin-destroy`, {
      method_id: alice.methodId,
      entity_id: alice.entityId,
      passkey_id: id,
    });
    expect((await alice.read()).passkeys).toEqual([]);
  });

  test('is of the namespace of its person, also for a method above', async () => {
    await must('POST', 'sys/namespaces/keys');
    const alice = await openAlice({ namespace: 'keys' });
    await alice.enrol();
    const { auth, answer } = await alice.sign();
    expect((await alice.validate(auth, answer)).status).toBe(200);
    const { method_id: above } = (await must('POST', METHODS, {})).data;
    expect((await alice.read()).methods.map(({ id }: Document) => id)).toContain(above);
    expect((await alice.own('begin', { method_id: above })).status).toBe(200);
  });
});

describe('a method of passkeys', () => {
  test('is returned as it was given, and keeps the domain', async () => {
    const settings = {
      method_name: 'keys',
      relying_party_name: 'Shop',
      relying_party_id: 'example.com',
      relying_party_origins: ['https://a.example.com', 'https://b.example.com:8443'],
      user_verification: 'preferred',
      max_validation_attempts: 9,
    };
    const { method_id: id } = (await must('POST', METHODS, settings)).data;
    const { method_name, ...others } = settings;
    const { data } = await must('GET', `${METHODS}/${id}`);
    expect(data).toEqual({
      type: 'webauthn',
      id,
      name: method_name,
      namespace_id: 'root',
      namespace_path: '',
      ...others,
    });
    expect((await must('GET', `identity/mfa/method/${id}`)).data).toEqual(data);
    expect((await call('GET', `identity/mfa/method/totp/${id}`)).status).toBe(404);
    expect((await must('LIST', METHODS)).data.keys).toContain(id);
    const totp = await call('LIST', 'identity/mfa/method/totp');
    expect(totp.body.data?.keys ?? []).not.toContain(id);
    const moved = { ...settings, relying_party_id: '' };
    expect(await call('POST', `${METHODS}/${id}`, moved)).toEqual(
      refused('relying_party_id of an MFA method cannot be changed: create another'),
    );
    await must('POST', `${METHODS}/${id}`, { ...settings, relying_party_name: 'The shop' });
    await must('DELETE', `identity/mfa/method/totp/${id}`);
    expect((await must('GET', `${METHODS}/${id}`)).data.relying_party_name).toBe('The shop');
    await must('DELETE', `${METHODS}/${id}`);
    expect((await call('GET', `${METHODS}/${id}`)).status).toBe(404);
  });

  test.for([
    [{ relying_party_name: '' }, 'relying_party_name is a text of 1 to 64 characters'],
    [{ relying_party_id: 'example.org' }, 'relying_party_id: the id of the relying party is'],
    [{ relying_party_origins: ['http://a.example.com'] }, 'relying_party_origins: browsers have'],
    [{ relying_party_origins: ['https://192.0.2.1'] }, 'relying_party_origins: browsers have'],
    [{ relying_party_origins: Array(9).fill(ORIGIN) }, 'relying_party_origins has at most 8'],
    [{ user_verification: 'no' }, 'user_verification is required or preferred'],
    [{ max_validation_attempts: 0 }, 'max_validation_attempts is 1 to 100'],
  ] as const)('%j is refused: %s', async ([settings, text]) => {
    const { status, body } = await call('POST', METHODS, settings);
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining(text)]);
  });
});
