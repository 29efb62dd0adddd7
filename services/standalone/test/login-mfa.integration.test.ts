/** Logins with a second factor: passcodes of an authenticator app, over HTTP. */
import { URI } from 'otpauth';
import { PNG } from 'pngjs';
import decodeQr from 'qr/decode.js';
import { describe, expect, test } from 'vitest';
import { type Document, useLoginSite } from './login-site.ts';

const { keelson, call, must } = useLoginSite();

const NOBODY = '00000000-0000-4000-8000-000000000000';

let serial = 0;
interface Person {
  readonly accessor: string;
  readonly mount: string;
  readonly entityId: string;
  readonly methodId: string;
  /** The passcode of this moment. */
  readonly passcode: () => string;
  readonly logIn: (headers?: Readonly<Record<string, string>>) => ReturnType<typeof call>;
  readonly validate: (auth: Document, passcode: string) => ReturnType<typeof call>;
}

/** Alice at a mount of her own, who has enrolled and needs a second factor. */
const openAlice = async ({
  namespace = '',
  enforce = (person: { readonly accessor: string; readonly entityId: string }): object => ({
    auth_method_accessors: [person.accessor],
  }),
  method = {} as object,
} = {}): Promise<Person> => {
  const mount = `people-${(serial += 1)}`;
  await must('POST', `sys/auth/${mount}`, { type: 'userpass' }, { namespace });
  await must('POST', `auth/${mount}/users/alice`, { password: 'pw' }, { namespace });
  const anonymous = { token: '', namespace };
  const logIn: Person['logIn'] = (headers = {}) =>
    call('POST', `auth/${mount}/login/alice`, { password: 'pw' }, { ...anonymous, headers });
  const { client_token: token, entity_id: entityId } = (await logIn()).body.auth;
  const { accessor } = (await must('GET', `sys/auth/${mount}`, undefined, { namespace })).data;
  const settings = { issuer: 'Keelson', method_name: `app-${serial}`, ...method };
  const { method_id: methodId } = (
    await must('POST', 'identity/mfa/method/totp', settings, { namespace })
  ).data;
  await must(
    'POST',
    'sys/policies/acl/enrolling',
    {
      policy: 'path "identity/mfa/method/totp/generate" { capabilities = ["update"] }',
    },
    { namespace },
  );
  await must('POST', `identity/entity/id/${entityId}`, { policies: ['enrolling'] }, { namespace });
  const enrolled = await must(
    'POST',
    'identity/mfa/method/totp/generate',
    { method_id: methodId },
    { token, namespace },
  );
  const app = URI.parse(enrolled.data.url);
  await must(
    'POST',
    `identity/mfa/login-enforcement/of-${mount}`,
    {
      mfa_method_ids: [methodId],
      ...enforce({ accessor, entityId }),
    },
    { namespace },
  );
  return {
    accessor,
    mount,
    entityId,
    methodId,
    passcode: () => app.generate(),
    logIn,
    validate: (auth, passcode) =>
      call(
        'POST',
        'sys/mfa/validate',
        {
          mfa_request_id: auth.mfa_requirement.mfa_request_id,
          mfa_payload: { [methodId]: [passcode] },
        },
        anonymous,
      ),
  };
};

/** The metrics of second factors. */
const countFactors = async () => {
  const response = await fetch(`${keelson().http}/v1/sys/metrics?format=prometheus`, {
    headers: { 'x-service-token': keelson().rootToken },
  });
  const text = await response.text();
  const valueOf = (result: string): number =>
    Number(
      new RegExp(`^keelson_second_factors_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(
        text,
      )?.[1],
    );
  return { passed: valueOf('passed'), refused: valueOf('refused') };
};

/** A passcode that is certainly wrong. */
const wrong = (right: string): string =>
  String((Number(right) + 500_000) % 1_000_000).padStart(6, '0');

describe('a login that needs a second factor', () => {
  test('has no token until a passcode was right', async () => {
    const alice = await openAlice();
    const { status, body } = await alice.logIn();
    expect(status).toBe(200);
    expect(body.auth).toMatchObject({
      client_token: '',
      accessor: '',
      policies: null,
      mfa_requirement: {
        mfa_request_id: expect.stringMatching(/^.+$/),
        mfa_constraints: {
          [`of-${alice.mount}`]: {
            any: [{ type: 'totp', id: alice.methodId, name: `app-${serial}`, uses_passcode: true }],
          },
        },
      },
    });
    const before = await countFactors();
    const refused = await alice.validate(body.auth, wrong(alice.passcode()));
    expect(refused).toEqual({
      status: 403,
      body: { errors: ['login MFA validation failed: the passcode is wrong'] },
    });
    const passcode = alice.passcode();
    const { body: done } = await alice.validate(body.auth, passcode);
    expect(done.auth).toMatchObject({
      entity_id: alice.entityId,
      metadata: { username: 'alice' },
      mfa_requirement: null,
      token_type: 'service',
    });
    const own = await call('GET', 'auth/token/lookup-self', undefined, {
      token: done.auth.client_token,
    });
    expect(own.status).toBe(200);
    const after = await countFactors();
    expect([after.passed - before.passed, after.refused - before.refused]).toEqual([1, 1]);
    // Once more, and in another login.
    expect((await alice.validate(body.auth, passcode)).body.errors).toEqual([
      expect.stringContaining('mfa_request_id is unknown'),
    ]);
    expect((await alice.validate((await alice.logIn()).body.auth, passcode)).body.errors).toEqual([
      'login MFA validation failed: the passcode has been used already: wait for the next',
    ]);
  });

  test('may come with its passcode', async () => {
    const alice = await openAlice();
    const other = { 'x-vault-mfa': `${alice.methodId}:${wrong(alice.passcode())}` };
    expect((await alice.logIn(other)).status).toBe(403);
    const missing = await alice.logIn({ 'x-vault-mfa': 'another:123456' });
    expect(missing.body.errors[0]).toContain(
      `for the login enforcement "of-${alice.mount}" is missing`,
    );
    const named = await alice.logIn({ 'x-service-mfa': `app-${serial}:${alice.passcode()}` });
    expect(named.body.auth.client_token).toMatch(/^hvs\./);
  });

  test('accepts one passcode once, however many present it at the same time', async () => {
    const alice = await openAlice();
    const { auth } = (await alice.logIn()).body;
    const passcode = alice.passcode();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => alice.validate(auth, passcode)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('lets nobody guess: after some wrong passcodes, a right one waits as well', async () => {
    const alice = await openAlice({ method: { max_validation_attempts: 3 } });
    const { auth } = (await alice.logIn()).body;
    for (let turn = 0; turn < 3; turn += 1) await alice.validate(auth, wrong(alice.passcode()));
    expect((await alice.validate(auth, alice.passcode())).body.errors[0]).toMatch(
      /^login MFA validation failed: too many wrong passcodes: try again in (30|29|28) seconds$/,
    );
  });

  test('keeps the networks of the secret id with which it began', async () => {
    const mount = `machines-${(serial += 1)}`;
    await must('POST', `sys/auth/${mount}`, { type: 'approle' });
    await must('POST', `auth/${mount}/role/web`, {});
    const { role_id } = (await must('GET', `auth/${mount}/role/web/role-id`)).data;
    const { secret_id } = (
      await must('POST', `auth/${mount}/role/web/secret-id`, { token_bound_cidrs: '127.0.0.1/32' })
    ).data;
    const logIn = async () =>
      (await must('POST', `auth/${mount}/login`, { role_id, secret_id }, { token: '' })).auth;
    const { entity_id } = await logIn();
    const { method_id } = (
      await must('POST', 'identity/mfa/method/totp', { issuer: 'Keelson', qr_size: 0 })
    ).data;
    const { url } = (
      await must('POST', 'identity/mfa/method/totp/admin-generate', { method_id, entity_id })
    ).data;
    const { accessor } = (await must('GET', `sys/auth/${mount}`)).data;
    await must('POST', `identity/mfa/login-enforcement/of-${mount}`, {
      mfa_method_ids: [method_id],
      auth_method_accessors: [accessor],
    });
    const { mfa_requirement } = await logIn();
    const done = await must(
      'POST',
      'sys/mfa/validate',
      {
        mfa_request_id: mfa_requirement.mfa_request_id,
        mfa_payload: { [method_id]: [URI.parse(url).generate()] },
      },
      { token: '' },
    );
    const own = await must('GET', 'auth/token/lookup-self', undefined, {
      token: done.auth.client_token,
    });
    expect(own.data.bound_cidrs).toEqual(['127.0.0.1/32']);
  });

  test('ends with the user, also in the middle', async () => {
    const alice = await openAlice();
    const { auth } = (await alice.logIn()).body;
    await must('DELETE', `auth/${alice.mount}/users/alice`);
    const { status, body } = await alice.validate(auth, alice.passcode());
    expect([400, 403]).toContain(status);
    expect(body.auth).toBeUndefined();
  });

  test('is refused for an entity that is disabled in the middle', async () => {
    const alice = await openAlice();
    const { auth } = (await alice.logIn()).body;
    await must('POST', `identity/entity/id/${alice.entityId}`, { disabled: true });
    expect((await alice.validate(auth, alice.passcode())).status).toBe(403);
  });

  test.for([
    [{}, 'missing mfa_request_id parameter value', 400],
    [{ mfa_request_id: 'x' }, 'missing mfa_payload parameter value', 400],
    [
      { mfa_request_id: 'x', mfa_payload: { a: 'b' } },
      'mfa_payload has a list with one passcode',
      400,
    ],
    [
      { mfa_request_id: 'x', mfa_payload: {} },
      'mfa_request_id is unknown or older than five minutes',
      403,
    ],
  ] as const)('%j is refused: %s', async ([body, text, wanted]) => {
    const { status, body: answer } = await call('POST', 'sys/mfa/validate', body, { token: '' });
    expect([status, answer.errors[0]]).toEqual([wanted, expect.stringContaining(text)]);
  });
});

describe('a login enforcement', () => {
  test('names people, groups and types of mounts as well', async () => {
    const byEntity = await openAlice({
      enforce: ({ entityId }) => ({ identity_entity_ids: [entityId] }),
    });
    expect((await byEntity.logIn()).body.auth.mfa_requirement).not.toBeNull();
    const group = `crew-${serial}`;
    await must('POST', `identity/group/name/${group}`, {});
    const { id } = (await must('GET', `identity/group/name/${group}`)).data;
    const byGroup = await openAlice({ enforce: () => ({ identity_group_ids: [id] }) });
    expect((await byGroup.logIn()).body.auth.mfa_requirement).toBeNull();
    await must('POST', `identity/group/id/${id}`, { member_entity_ids: [byGroup.entityId] });
    const { auth } = (await byGroup.logIn()).body;
    expect((await byGroup.validate(auth, byGroup.passcode())).status).toBe(200);
    expect((await byGroup.logIn()).body.auth.client_token).toBe('');
  });

  test('and the key of a person go on when her entity is merged into another one', async () => {
    const alice = await openAlice({
      enforce: ({ entityId }) => ({ identity_entity_ids: [entityId] }),
    });
    const { id } = (await must('POST', 'identity/entity', { name: `alice-${serial}` })).data;
    await must('POST', 'identity/entity/merge', {
      from_entity_ids: [alice.entityId],
      to_entity_id: id,
    });
    const { auth } = (await alice.logIn()).body;
    expect(auth.client_token).toBe('');
    const done = await alice.validate(auth, alice.passcode());
    expect(done.body.auth.entity_id).toBe(id);
  });

  test('holds in the namespaces below its own, and ends with it', async () => {
    await must('POST', 'sys/namespaces/mfa-team');
    await must('POST', 'sys/namespaces/inner', undefined, { namespace: 'mfa-team' });
    const asked = { namespace: 'mfa-team/inner' };
    await must('POST', 'sys/auth/people', { type: 'userpass' }, asked);
    await must('POST', 'auth/people/users/bob', { password: 'pw' }, asked);
    const logIn = async () =>
      (await call('POST', 'auth/people/login/bob', { password: 'pw' }, { token: '', ...asked }))
        .body.auth;
    expect((await logIn()).client_token).toMatch(/^hvs\./);
    const namespace = { namespace: 'mfa-team' };
    const { method_id } = (
      await must('POST', 'identity/mfa/method/totp', { issuer: 'Team' }, namespace)
    ).data;
    await must(
      'POST',
      'identity/mfa/login-enforcement/all',
      {
        mfa_method_ids: [method_id],
        auth_method_types: ['userpass'],
      },
      namespace,
    );
    expect((await logIn()).mfa_requirement.mfa_constraints).toHaveProperty('all');
    expect(
      (await call('DELETE', `identity/mfa/method/totp/${method_id}`, undefined, namespace)).body
        .errors,
    ).toEqual(['the MFA method is in use by the login enforcement "all": change that first']);
    await must('DELETE', 'identity/mfa/login-enforcement/all', undefined, namespace);
    expect((await logIn()).client_token).toMatch(/^hvs\./);
  });

  test('refuses logins without an entity', async () => {
    await must('POST', 'sys/auth/here', { type: 'userpass', local: true });
    await must('POST', 'auth/here/users/bob', { password: 'pw' });
    const { accessor } = (await must('GET', 'sys/auth/here')).data;
    const { method_id } = (await must('POST', 'identity/mfa/method/totp', { issuer: 'Here' })).data;
    await must('POST', 'identity/mfa/login-enforcement/here', {
      mfa_method_ids: [method_id],
      auth_method_accessors: [accessor],
    });
    const { status, body } = await call(
      'POST',
      'auth/here/login/bob',
      { password: 'pw' },
      { token: '' },
    );
    expect([status, body.errors[0]]).toEqual([403, expect.stringContaining('without an entity')]);
  });

  test.for([
    [{}, 'mfa_method_ids is missing'],
    [{ mfa_method_ids: ['x'] }, 'one of auth_method_accessors, auth_method_types,'],
    [
      { mfa_method_ids: ['x'], auth_method_types: ['userpass'] },
      'mfa_method_ids: there is no MFA method "x"',
    ],
    [{ auth_method_accessors: ['userpass_1'] }, 'auth_method_accessors: there is no auth method'],
    [{ auth_method_types: ['userpas'] }, 'auth_method_types: there is no type of auth methods'],
    [{ identity_group_ids: [NOBODY] }, `identity_group_ids: there is no group with the id`],
    [{ identity_entity_ids: [NOBODY] }, `identity_entity_ids: there is no entity with the id`],
  ] as const)('%j is refused: %s', async ([body, text]) => {
    const { method_id } = (await must('POST', 'identity/mfa/method/totp', { issuer: 'Any' })).data;
    const { status, body: answer } = await call('POST', 'identity/mfa/login-enforcement/bad', {
      ...(text.includes('mfa_method_ids') ? {} : { mfa_method_ids: [method_id] }),
      ...body,
    });
    expect([status, answer.errors[0]]).toEqual([400, expect.stringContaining(text)]);
  });
});

describe('a key', () => {
  test('is shown once, as an address and as a picture of it', async () => {
    const alice = await openAlice();
    const place = { method_id: alice.methodId, entity_id: alice.entityId };
    const again = await must('POST', 'identity/mfa/method/totp/admin-generate', place);
    expect(again.warnings).toEqual([
      'the entity has a key for this MFA method already: destroy it first',
    ]);
    expect(again.data).toBeNull();
    await must('POST', 'identity/mfa/method/totp/admin-destroy', place);
    const { auth } = (await alice.logIn()).body;
    expect((await alice.validate(auth, '123456')).body.errors[0]).toContain(
      'the entity has no key',
    );
    const { data } = await must('POST', 'identity/mfa/method/totp/admin-generate', place);
    const { width, height, data: pixels } = PNG.sync.read(Buffer.from(data.barcode, 'base64'));
    expect(decodeQr({ width, height, data: new Uint8Array(pixels) })).toBe(data.url);
    const app = URI.parse(data.url);
    expect((await alice.validate(auth, app.generate())).status).toBe(200);
  });

  test('is made for whoever has signed in only', async () => {
    const alice = await openAlice();
    const { status, body } = await call('POST', 'identity/mfa/method/totp/generate', {
      method_id: alice.methodId,
    });
    expect([status, body.errors[0]]).toEqual([
      400,
      expect.stringContaining('the token has no entity'),
    ]);
  });
});

describe('a TOTP method', () => {
  test('is returned as it was given, and keeps what enrolled apps depend on', async () => {
    const settings = {
      issuer: 'Shop',
      method_name: 'shop',
      digits: 8,
      algorithm: 'SHA256',
      period: '1m',
      skew: 0,
      qr_size: 0,
      key_size: 32,
    };
    const { method_id: id } = (await must('POST', 'identity/mfa/method/totp', settings)).data;
    const { data } = await must('GET', `identity/mfa/method/totp/${id}`);
    expect(data).toEqual({
      type: 'totp',
      id,
      name: 'shop',
      namespace_id: 'root',
      namespace_path: '',
      issuer: 'Shop',
      period: 60,
      key_size: 32,
      qr_size: 0,
      algorithm: 'SHA256',
      digits: 8,
      skew: 0,
      max_validation_attempts: 5,
    });
    expect((await must('GET', `identity/mfa/method/${id}`)).data).toEqual(data);
    const { keys, key_info } = (await must('LIST', 'identity/mfa/method')).data;
    expect(keys).toContain(id);
    expect(key_info[id]).toEqual(data);
    const other = await call('POST', `identity/mfa/method/totp/${id}`, { ...settings, digits: 6 });
    expect(other.body.errors[0]).toContain(
      'algorithm, digits and period of an MFA method cannot be changed',
    );
    await must('POST', `identity/mfa/method/totp/${id}`, { ...settings, issuer: 'The shop' });
    expect((await must('GET', `identity/mfa/method/totp/${id}`)).data.issuer).toBe('The shop');
    expect((await call('POST', 'identity/mfa/method/totp', settings)).body.errors[0]).toContain(
      'already in use',
    );
    await must('DELETE', `identity/mfa/method/totp/${id}`);
    expect((await call('GET', `identity/mfa/method/totp/${id}`)).status).toBe(404);
  });

  test.for([
    [{ issuer: undefined }, 'issuer is missing'],
    [{ issuer: 'a:b' }, 'issuer is a text without a colon'],
    [{ digits: 7 }, 'digits is 6 or 8'],
    [{ skew: 2 }, 'skew is 0 or 1'],
    [{ algorithm: 'MD5' }, 'algorithm is SHA1, SHA256 or SHA512'],
    [{ period: 1 }, 'period is 10 to 300 seconds'],
    [{ key_size: 8 }, 'key_size is 16 to 64 bytes'],
    [{ qr_size: 5000 }, 'qr_size is 0 to 1000 pixels'],
    [{ max_validation_attempts: 0 }, 'max_validation_attempts is 1 to 100'],
  ] as const)('%j is refused: %s', async ([change, text]) => {
    const { status, body } = await call('POST', 'identity/mfa/method/totp', {
      issuer: 'Shop',
      ...change,
    });
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining(text)]);
  });
});
