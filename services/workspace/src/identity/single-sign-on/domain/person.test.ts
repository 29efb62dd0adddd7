import { expect, test } from 'vitest';
import { personOf } from './person.ts';

const SETTINGS = { usernameClaim: 'preferred_username', groupsClaim: 'groups' };
const VERIFIED = { email: 'ada@acme.example', email_verified: true };

test.for([
  ['in the token', VERIFIED, {}, 'ada@acme.example'],
  ['in the document', {}, VERIFIED, 'ada@acme.example'],
  ['in both', VERIFIED, { email: 'eve@acme.example', email_verified: true }, 'ada@acme.example'],
  ['of another address', { email: 'eve@acme.example' }, VERIFIED, undefined],
  ['without an address', { email_verified: true }, { email: 'eve@acme.example' }, undefined],
  ['as a text', { email: 'eve@acme.example', email_verified: 'true' }, {}, undefined],
] as const)('a verification %s', ([, token, userInfo, email]) => {
  expect(personOf({ sub: '1', ...token }, userInfo, SETTINGS)).toEqual({
    subject: '1',
    email,
    name: '',
    groups: [],
    hasTwoFactors: false,
  });
});

test('nobody without a subject, and groups of the token before those of the document', () => {
  expect(personOf({}, {}, SETTINGS)).toBeUndefined();
  const person = personOf(
    { sub: '1', groups: ['a', 'a', 7] },
    { groups: 'b', preferred_username: 'ada' },
    SETTINGS,
  );
  expect(person).toEqual({
    subject: '1',
    email: undefined,
    name: 'ada',
    groups: ['a'],
    hasTwoFactors: false,
  });
});

test('two factors count where the token says so, and not the document about the user', () => {
  const factorsOf = (token: object, userInfo: object = {}) =>
    personOf({ sub: '1', ...token }, { ...userInfo }, SETTINGS)?.hasTwoFactors;
  expect(factorsOf({ amr: ['pwd', 'mfa'] })).toBe(true);
  expect(factorsOf({ amr: ['pwd', 'otp'] })).toBe(false);
  expect(factorsOf({ amr: ['pwd'] }, { amr: ['mfa'] })).toBe(false);
  expect(factorsOf({}, { amr: ['mfa'] })).toBe(false);
});
