/** Users and accounts: permitted names, and the attributes that are shown. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
let ada: { id: string; token: string };
let grace: { id: string; token: string };
beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  ada = await harness.addUser('Ada');
  grace = await harness.addUser('grace');
});
afterAll(() => harness[Symbol.asyncDispose]());

const body = (attributes: object) => ({ data: { type: 'users', attributes } });
const INVALID = [
  [{ username: 'a b', email: 'a@b.example' }, '/data/attributes/username'],
  [{ username: 'aDA', email: 'a@b.example' }, '/data/attributes/username'],
  [{ username: 'hopper', email: 'hopper' }, '/data/attributes/email'],
  [{ username: 'hopper', email: '<a@b.example>' }, '/data/attributes/email'],
  [{ username: 'hopper', email: 'a@b.example>' }, '/data/attributes/email'],
  [{ username: 'hopper', email: 'Ada <a@b.example>' }, '/data/attributes/email'],
  [{ username: 'hopper', email: '=?utf-8?q?x?=@b.example' }, '/data/attributes/email'],
  [{ username: 'hopper', email: 'a@b.example,c@d.example' }, '/data/attributes/email'],
  [{ username: 'hopper', email: 'a@b..example' }, '/data/attributes/email'],
] as const;

describe('a user', () => {
  test.for(INVALID)('cannot be created with %j', async ([attributes, pointer]) => {
    const { status, errors } = await harness.call('POST', '/admin/users', body(attributes));
    expect([status, errors[0]?.source]).toEqual([422, { pointer }]);
  });

  test('has an address that only the user sees', async () => {
    const emailFor = async (token?: string) =>
      (await harness.call('GET', `/users/${ada.id}`, undefined, token)).data.attributes['email'];
    expect(await emailFor(ada.token)).toBe('Ada@keelson.example');
    expect(await emailFor()).toBeUndefined();
  });
});

describe('an account', () => {
  const update = (attributes: object, token: string) =>
    harness.call('PATCH', '/account/update', body(attributes), token);

  test.for(INVALID)('cannot be changed to %j', async ([attributes, pointer]) => {
    const { status, errors } = await update(attributes, grace.token);
    expect([status, errors[0]?.source]).toEqual([422, { pointer }]);
  });

  test('can be renamed, also only in case, which frees the former name', async () => {
    const { token } = await harness.addUser('linus');
    expect((await update({ username: 'Linus' }, token)).data.attributes['username']).toBe('Linus');
    const { data } = await update({ username: 'torvalds' }, token);
    expect(data.attributes).toMatchObject({
      username: 'torvalds',
      email: 'linus@keelson.example',
    });
    const freed = { username: 'linus', email: 'other-linus@keelson.example' };
    await harness.create('/admin/users', 'users', freed);
  });

  test.for([
    ['a team', 'teams', 'api-team_builders'],
    ['an organization', 'organizations', 'api-org-acme'],
  ] as const)('of the token of %s is a service account', async ([, type, username]) => {
    const owner =
      type === 'teams'
        ? `/teams/${(await harness.create(`${O}/teams`, type, { name: 'builders' })).id}`
        : O;
    const made = await harness.create(`${owner}/authentication-token`, 'authentication-tokens', {});
    const token = String(made.attributes['token']);
    const { data } = await harness.call('GET', '/account/details', undefined, token);
    expect(data).toMatchObject({
      id: expect.stringMatching(/^user-/) as string,
      attributes: { username, 'is-service-account': true },
    });
    expect(data.relationships['authenticated-resource']?.data).toEqual({
      id: owner.slice(owner.lastIndexOf('/') + 1),
      type,
    });
  });
});
