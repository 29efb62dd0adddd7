/** Passkeys of a software authenticator, and what an enemy makes of them. */
import { openSoftwareAuthenticator } from '@keelson/testkit/software-authenticator';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type Ceremony,
  CHALLENGE_LASTS_MS,
  newChallengeKey,
  type Passkey,
  type PasskeyUse,
  parseAssertion,
  registrationOptions,
  relyingPartyOf,
  signInOptions,
  type UsedChallenge,
  verifyRegistration,
  verifySignIn,
  withUsed,
} from './passkeys.ts';

const ORIGIN = 'https://keelson.example.com';
const ALICE = { handle: 'alice-1', name: 'alice', displayName: 'Alice' };
const key = newChallengeKey();

const ceremony = (purpose: 'register' | 'sign-in', change: Partial<Ceremony> = {}): Ceremony => ({
  party: relyingPartyOf(ORIGIN, { name: 'Keelson', id: '', origins: [] }),
  userVerification: 'required',
  key,
  place: { purpose, subject: 'alice' },
  nowMs: 1_000_000,
  ...change,
});
const REGISTER = ceremony('register');
const SIGN_IN = ceremony('sign-in');

let device: ReturnType<typeof openSoftwareAuthenticator>;
beforeEach(() => {
  device = openSoftwareAuthenticator();
});

const register = async (expected: Ceremony = REGISTER): Promise<Passkey> => {
  const answer = device.create(ORIGIN, await registrationOptions(expected, ALICE, []));
  const { passkey } = await verifyRegistration(expected, answer);
  return { ...passkey, name: 'phone', createdAtMs: 1 };
};

const answerFor = async (
  passkey: Passkey,
  begun: Ceremony = SIGN_IN,
  origin = ORIGIN,
): Promise<unknown> => device.get(origin, await signInOptions(begun, [passkey]));

const verify = (
  answer: unknown,
  passkey: Passkey,
  { use, expected = SIGN_IN }: { use?: PasskeyUse; expected?: Ceremony } = {},
) =>
  verifySignIn(expected, parseAssertion(answer), {
    passkey,
    use,
    userHandles: ['another', ALICE.handle],
  });

const refusal = (reason: string, field: string) =>
  expect.objectContaining({ name: 'Error', reason, field });

describe('a passkey', () => {
  test.for(['ES256', 'EdDSA', 'RS256'] as const)(
    'of %s is made, and signs in',
    async (algorithm) => {
      device.behave({ algorithm });
      const passkey = await register();
      expect(passkey).toMatchObject({
        signCount: 0,
        backupEligible: true,
        relyingPartyId: 'keelson.example.com',
        aaguid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      const { use, challenge } = await verify(await answerFor(passkey), passkey);
      expect(use).toEqual({ signCount: 1, backedUp: true, lastUsedAtMs: SIGN_IN.nowMs });
      expect(challenge.expiresAtMs).toBe(SIGN_IN.nowMs + CHALLENGE_LASTS_MS);
      expect((await verify(await answerFor(passkey), passkey, { use })).use.signCount).toBe(2);
    },
  );

  test('is chosen by the person where the page names none', async () => {
    const passkey = await register();
    const options = await signInOptions(SIGN_IN, undefined);
    expect(options.allowCredentials).toBeUndefined();
    await expect(verify(device.get(ORIGIN, options), passkey)).resolves.toBeDefined();
  });

  test('is not made twice by an authenticator, and of no use at another relying party', async () => {
    const passkey = await register();
    const again = await registrationOptions(REGISTER, ALICE, [passkey]);
    expect(again.excludeCredentials).toMatchObject([{ id: passkey.id }]);
    expect(() => device.create(ORIGIN, again)).toThrow(DOMException);
    const moved = { ...passkey, relyingPartyId: 'old.example.com' };
    expect((await signInOptions(SIGN_IN, [moved])).allowCredentials).toEqual([]);
  });

  test('asks for no statement of the maker, and for verification of the person', async () => {
    expect(await registrationOptions(REGISTER, ALICE, [])).toMatchObject({
      attestation: 'none',
      authenticatorSelection: { userVerification: 'required', residentKey: 'preferred' },
      rp: { id: 'keelson.example.com', name: 'Keelson' },
    });
  });
});

describe('a registration is refused', () => {
  const attempt = async (expected: Ceremony, begun: Ceremony = REGISTER, origin = ORIGIN) =>
    verifyRegistration(
      expected,
      device.create(origin, await registrationOptions(begun, ALICE, [])),
    );

  test('after its time', () =>
    expect(attempt({ ...REGISTER, nowMs: REGISTER.nowMs + CHALLENGE_LASTS_MS })).rejects.toEqual(
      refusal('challenge', 'response.clientDataJSON'),
    ));

  test.for([
    ['of another person', { place: { purpose: 'register', subject: 'bob' } }],
    ['of another purpose', { place: { purpose: 'sign-in', subject: 'alice' } }],
    ['of another key', { key: newChallengeKey() }],
  ] as const)('with the challenge %s', ([, change]) =>
    expect(attempt(REGISTER, { ...REGISTER, ...change })).rejects.toEqual(
      refusal('challenge', 'response.clientDataJSON'),
    ),
  );

  test('from another origin', () =>
    expect(attempt(REGISTER, REGISTER, 'https://evil.keelson.example.com')).rejects.toEqual(
      refusal('origin', 'response.clientDataJSON'),
    ));

  test('of another relying party', () => {
    const party = { ...REGISTER.party, id: 'example.com' };
    return expect(attempt(REGISTER, { ...REGISTER, party })).rejects.toEqual(
      refusal('relying-party', 'response'),
    );
  });

  test('without a touch, or without the person verified', async () => {
    device.behave({ verifiesPerson: false });
    await expect(attempt(REGISTER)).rejects.toEqual(refusal('user-verification', 'response'));
    await expect(attempt({ ...REGISTER, userVerification: 'preferred' })).resolves.toBeDefined();
    device.behave({ touched: false });
    await expect(attempt(REGISTER)).rejects.toEqual(refusal('user-presence', 'response'));
  });

  test('with an algorithm that was not offered', async () => {
    const options = await registrationOptions(REGISTER, ALICE, []);
    const answer = device.create(ORIGIN, options);
    // The key says ESP256 (-9) instead of ES256 (-7), after 01 02, the type of the key.
    const object = Buffer.from(answer.response.attestationObject, 'base64url');
    const place = object.indexOf(Buffer.from('01020326', 'hex'));
    expect(place).toBeGreaterThan(0);
    const changed = Buffer.concat([
      object.subarray(0, place),
      Buffer.from('01020328', 'hex'),
      object.subarray(place + 4),
    ]);
    const response = { ...answer.response, attestationObject: changed.toString('base64url') };
    await expect(verifyRegistration(REGISTER, { ...answer, response })).rejects.toEqual(
      refusal('algorithm', 'response.attestationObject'),
    );
  });

  test('with a statement of the maker, whose certificates would be fetched', async () => {
    const answer = device.create(ORIGIN, await registrationOptions(REGISTER, ALICE, []));
    const object = Buffer.from(answer.response.attestationObject, 'base64url');
    const place = object.indexOf('dnone');
    const changed = Buffer.concat([
      object.subarray(0, place),
      Buffer.from('eapple'),
      object.subarray(place + 5),
    ]);
    const response = { ...answer.response, attestationObject: changed.toString('base64url') };
    await expect(verifyRegistration(REGISTER, { ...answer, response })).rejects.toEqual(
      refusal('attestation', 'response.attestationObject'),
    );
  });

  test('with a part that cannot be read, is too long, or is missing', async () => {
    const answer = device.create(ORIGIN, await registrationOptions(REGISTER, ALICE, []));
    const change = (field: string, value: unknown) =>
      verifyRegistration(REGISTER, { ...answer, response: { ...answer.response, [field]: value } });
    const malformed = (field: string) => refusal('malformed', field);
    await expect(change('attestationObject', 'gYGBgYGB')).rejects.toEqual(malformed('response'));
    await expect(change('attestationObject', 'A'.repeat(8193))).rejects.toEqual(
      malformed('response.attestationObject'),
    );
    await expect(change('clientDataJSON', 'A'.repeat(4097))).rejects.toEqual(
      malformed('response.clientDataJSON'),
    );
    await expect(change('clientDataJSON', '{}')).rejects.toEqual(
      malformed('response.clientDataJSON'),
    );
    await expect(change('transports', Array(17).fill('usb'))).rejects.toEqual(
      malformed('response.transports'),
    );
    await expect(verifyRegistration(REGISTER, { ...answer, id: 'A'.repeat(1365) })).rejects.toEqual(
      malformed('id'),
    );
    await expect(verifyRegistration(REGISTER, { ...answer, response: {} })).rejects.toEqual(
      malformed('response.clientDataJSON'),
    );
    await expect(verifyRegistration(REGISTER, 'x')).rejects.toEqual(malformed(''));
    const other = { ...answer, id: 'AAAA', rawId: 'AAAA' };
    await expect(verifyRegistration(REGISTER, other)).rejects.toEqual(malformed('id'));
  });
});

describe('a sign-in is refused', () => {
  test('a second time', async () => {
    const passkey = await register();
    const { challenge } = await verify(await answerFor(passkey), passkey);
    const used = withUsed([], challenge, SIGN_IN.nowMs);
    expect(() => withUsed(used, challenge, SIGN_IN.nowMs)).toThrow(/used already/);
    const later: UsedChallenge = { digest: 'later', expiresAtMs: challenge.expiresAtMs + 1 };
    expect(withUsed(used, later, challenge.expiresAtMs)).toEqual([later]);
    const many = Array.from({ length: 100 }, (_, index) => ({ ...later, digest: `${index}` }));
    expect(() => withUsed(many, challenge, SIGN_IN.nowMs)).toThrow(/too many/);
  });

  test.for([
    ['of another person', { place: { purpose: 'sign-in', subject: 'bob' } }],
    ['of another purpose', { place: { purpose: 'register', subject: 'alice' } }],
    ['of another key', { key: newChallengeKey() }],
    ['of the past', { nowMs: SIGN_IN.nowMs - CHALLENGE_LASTS_MS }],
  ] as const)('with the challenge %s', async ([, change]) => {
    const passkey = await register();
    const answer = await answerFor(passkey, { ...SIGN_IN, ...change });
    await expect(verify(answer, passkey)).rejects.toEqual(
      refusal('challenge', 'response.clientDataJSON'),
    );
  });

  test('with the answer to a registration', async () => {
    const passkey = await register();
    const answer = device.create(ORIGIN, await registrationOptions(SIGN_IN, ALICE, []));
    const { authenticatorData, clientDataJSON } = answer.response;
    const signIn = { ...answer, id: passkey.id, rawId: passkey.id };
    const response = { authenticatorData, clientDataJSON, signature: 'AAAA' };
    await expect(verify({ ...signIn, response }, passkey)).rejects.toEqual(
      refusal('malformed', 'response'),
    );
  });

  test('from another origin, or at another relying party', async () => {
    const passkey = await register();
    await expect(
      verify(await answerFor(passkey, SIGN_IN, 'https://evil.keelson.example.com'), passkey),
    ).rejects.toEqual(refusal('origin', 'response.clientDataJSON'));
    const above = { ...SIGN_IN, party: { ...SIGN_IN.party, id: 'example.com' } };
    const other = await register({ ...above, place: REGISTER.place });
    await expect(verify(await answerFor(other, above), other)).rejects.toEqual(
      refusal('relying-party', 'response'),
    );
  });

  test('without a touch, or without the person verified', async () => {
    const passkey = await register();
    device.behave({ verifiesPerson: false });
    await expect(verify(await answerFor(passkey), passkey)).rejects.toEqual(
      refusal('user-verification', 'response'),
    );
    const expected = { ...SIGN_IN, userVerification: 'preferred' } as const;
    await expect(verify(await answerFor(passkey), passkey, { expected })).resolves.toBeDefined();
    device.behave({ touched: false });
    await expect(verify(await answerFor(passkey), passkey)).rejects.toEqual(
      refusal('user-presence', 'response'),
    );
  });

  test('when the authenticator counts back, stands still, or stops to count', async () => {
    const passkey = await register();
    const use = { signCount: 5, backedUp: true, lastUsedAtMs: 1 };
    const back = refusal('sign-count', 'response.authenticatorData');
    await expect(verify(await answerFor(passkey), passkey, { use })).rejects.toEqual(back);
    device.behave({ countStep: 4 });
    await expect(verify(await answerFor(passkey), passkey, { use })).rejects.toEqual(back);
    device = openSoftwareAuthenticator({ countStep: 0 });
    const uncounted = await register();
    await expect(verify(await answerFor(uncounted), uncounted, { use })).rejects.toEqual(back);
    await expect(verify(await answerFor(uncounted), uncounted)).resolves.toBeDefined();
  });

  test('with the signature of another passkey, and in the name of somebody else', async () => {
    const passkey = await register();
    const answer = parseAssertion(await answerFor(passkey));
    device = openSoftwareAuthenticator();
    const other = await register();
    await expect(verify(answer, { ...other, id: passkey.id })).rejects.toEqual(
      refusal('signature', 'response.signature'),
    );
    await expect(verify(answer, other)).rejects.toEqual(refusal('user', 'id'));
    await expect(
      verifySignIn(SIGN_IN, answer, { passkey, use: undefined, userHandles: ['bob-1'] }),
    ).rejects.toEqual(refusal('user', 'response.userHandle'));
  });

  test.for([
    ['signature', 2049],
    ['authenticatorData', 2049],
    ['clientDataJSON', 4097],
    ['userHandle', 89],
  ] as const)('with a %s of %d characters', async ([field, length]) => {
    const passkey = await register();
    const answer = parseAssertion(await answerFor(passkey));
    const response = { ...answer.response, [field]: 'A'.repeat(length) };
    expect(() => parseAssertion({ ...answer, response })).toThrow(
      refusal('malformed', `response.${field}`),
    );
  });
});

describe('a relying party', () => {
  const given = (id: string, ...origins: string[]) => ({ name: 'Keelson', id, origins });

  test('has the host of the public address, unless another one is given', () => {
    expect(relyingPartyOf('https://keelson.example.com:8443', given(''))).toEqual(
      given('keelson.example.com', 'https://keelson.example.com:8443'),
    );
    expect(relyingPartyOf('http://localhost:8200', given('')).id).toBe('localhost');
    const two = ['https://a.example.com', 'https://b.example.com'];
    expect(relyingPartyOf(undefined, given('example.com', ...two))).toEqual(
      given('example.com', ...two),
    );
  });

  test.for([
    [undefined, given(''), 'origins'],
    ['http://keelson.example.com', given(''), 'origins'],
    ['https://192.0.2.1', given(''), 'origins'],
    ['https://[2001:db8::1]:8200', given(''), 'origins'],
    ['ftp://keelson.example.com', given(''), 'origins'],
    [undefined, given('', 'keelson'), 'origins'],
    ['https://keelson.example.com', given('example.org'), 'id'],
    ['https://keelson.example.com', given('lson.example.com'), 'id'],
  ] as const)('%s with %j is refused', ([address, party, field]) => {
    expect(() => relyingPartyOf(address, party)).toThrow(refusal('relying-party', field));
  });
});
