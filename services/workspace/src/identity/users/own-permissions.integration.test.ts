/**
 * An account says what may be changed of it with the token that asks.
 *
 * | token | address | password | second factor | passkeys |
 * | --- | --- | --- | --- | --- |
 * | of a session, of an account with a password | yes | yes | yes | yes |
 * | of a session, of an account without one | yes | no | no | yes |
 * | API token, of an account with a password | no | yes | no | no |
 * | API token, where nobody signs in | yes | no | no | no |
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Account,
  addAccount,
  PASSWORD,
  type Site,
  signIn,
  startSite,
  tokenOf,
} from '../../../test/password-accounts.ts';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';
import { issueSession } from '../tokens/session-operations.ts';

let site: Site;
let account: Account;
beforeAll(async () => {
  site = await startSite();
  const { harness, mail } = site;
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  account = await addAccount(harness, mail, 'ada');
});
afterAll(() => site[Symbol.asyncDispose]());

const NAMES = ['email', 'password', 'two-factor', 'passkeys'];

/** Names of the permitted changes, by the answer at a path. */
const changesAt = async (path: string, token: string, harness: Harness = site.harness) => {
  const { data } = await harness.call('GET', path, undefined, token);
  const permissions = data.attributes['permissions'] as Record<string, boolean>;
  return NAMES.filter((name) => permissions[`can-change-${name}`]);
};

const changesOf = (token: string, harness?: Harness) =>
  changesAt('/account/details', token, harness);

test('an account with a password is changed in a session, and its password with an API token too', async () => {
  const session = await tokenOf(signIn(site.harness, account.name, PASSWORD));
  expect(await changesOf(session)).toEqual(NAMES);
  expect(await changesAt(`/users/${account.id}`, session)).toEqual(NAMES);
  expect(await changesOf(account.token)).toEqual(['password']);
});

test('an account without a password has nothing that a password would confirm', async () => {
  const { harness } = site;
  const { id } = await harness.addUser('sso-alone');
  const { text } = await harness.store.transact((tx) =>
    issueSession(tx, id, 'Firefox', harness.clock.nowMs()),
  );
  expect(await changesOf(text)).toEqual(['email', 'passkeys']);
});

test('where nobody signs in, an API token changes the address', async () => {
  await using bare = await startHarness();
  const { token } = await bare.addUser('program');
  expect(await changesOf(token, bare)).toEqual(['email']);
});

test('nobody changes the account of somebody else there', async () => {
  expect(await changesAt(`/users/${account.id}`, site.harness.adminToken)).toEqual([]);
});
