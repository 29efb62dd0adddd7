/** Methods and enforcements of login MFA in the namespaces that they are of. Logins: services/standalone/test/login-mfa. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { joinMethod, logIn, mountMethod } from '../../test/login-steps.ts';
import { type Document, openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

const METHODS = 'identity/mfa/method';
const ENFORCEMENTS = 'identity/mfa/login-enforcement';

let harness: SysHarness;
let teamId: string;
beforeEach(async () => {
  harness = await openInitializedSys();
  teamId = await harness.createNamespace('team');
});
afterEach(() => harness.close());

const must = async (method: string, path: string, body?: object, namespace = '') => {
  const answer = await harness.asRoot(method, path, { namespace, ...(body && { body }) });
  expect([200, 204]).toContain(answer.status);
  return (answer.body as Document)?.data;
};

test('a namespace has methods of its own, and names those above it', async () => {
  const { method_id: above } = await must('POST', `${METHODS}/totp`, { issuer: 'Site' });
  const { method_id: own } = await must('POST', `${METHODS}/totp`, { issuer: 'Team' }, 'team');
  const method = await must('GET', `${METHODS}/totp/${own}`, undefined, 'team');
  expect(method).toMatchObject({ issuer: 'Team', namespace_id: teamId, namespace_path: 'team/' });
  expect(await must('GET', `${METHODS}/${own}`, undefined, 'team')).toEqual(method);
  for (const path of [METHODS, `${METHODS}/totp`])
    expect((await must('LIST', path, undefined, 'team')).keys).toEqual([own]);
  await joinMethod(harness);
  const both = { mfa_method_ids: [own, above], auth_method_types: ['people'] };
  await must('POST', `${ENFORCEMENTS}/people`, both, 'team');
  expect(await must('GET', `${ENFORCEMENTS}/people`, undefined, 'team')).toMatchObject({
    name: 'people',
    namespace_path: 'team/',
    mfa_method_ids: [own, above],
    auth_method_types: ['people'],
    identity_entity_ids: [],
  });
  expect((await must('LIST', ENFORCEMENTS, undefined, 'team')).keys).toEqual(['people']);
  expect((await harness.asRoot('GET', `${ENFORCEMENTS}/people`)).status).toBe(404);
  expect((await harness.asRoot('LIST', ENFORCEMENTS)).body.data?.keys ?? []).toEqual([]);
  // A method of a namespace is unknown above it.
  const wrong = { mfa_method_ids: [own], auth_method_types: ['people'] };
  expect((await harness.asRoot('POST', `${ENFORCEMENTS}/x`, { body: wrong })).status).toBe(400);
});

test('the key of an entity ends with it', async () => {
  await joinMethod(harness);
  const { uuid } = await mountMethod(harness, 'people');
  const { entity_id } = await logIn(harness, uuid);
  const { method_id } = await must('POST', `${METHODS}/totp`, { issuer: 'Site' });
  await must('POST', `${METHODS}/totp/admin-generate`, { method_id, entity_id });
  const keys = async () => (await harness.store.scan('shared/mfa-totp-secrets/')).length;
  expect(await keys()).toBe(1);
  await must('DELETE', `identity/entity/id/${entity_id}`);
  expect(await keys()).toBe(0);
});

test('the key of an entity that is merged ends with force where the remaining entity has one', async () => {
  const { method_id } = await must('POST', `${METHODS}/totp`, { issuer: 'Site' });
  const [from, into] = [
    (await must('POST', 'identity/entity', { name: 'from' })).id,
    (await must('POST', 'identity/entity', { name: 'into' })).id,
  ];
  for (const entity_id of [from, into])
    await must('POST', `${METHODS}/totp/admin-generate`, { method_id, entity_id });
  const merge = { from_entity_ids: [from], to_entity_id: into };
  const refused = await harness.asRoot('POST', 'identity/entity/merge', { body: merge });
  expect([refused.status, refused.body.errors]).toEqual([
    400,
    [expect.stringMatching(/have a key for the MFA method .* force/)],
  ]);
  expect(await harness.store.scan('shared/mfa-totp-secrets/')).toHaveLength(2);
  await must('POST', 'identity/entity/merge', { ...merge, force: true });
  const left = await harness.store.scan('shared/mfa-totp-secrets/');
  expect(left.map(({ path }) => path)).toEqual([
    `shared/mfa-totp-secrets/root/${into}/${method_id}`,
  ]);
});

test('the keys of any number of entities end with their method', async () => {
  const make = async () =>
    (await must('POST', `${METHODS}/totp`, { issuer: 'S', qr_size: 0 })).method_id;
  const [method_id, other] = [await make(), await make()];
  const people = Array.from({ length: 205 }, (_, at) => `person-${at}`);
  for (const name of people) {
    const { id } = await must('POST', 'identity/entity', { name });
    await must('POST', `${METHODS}/totp/admin-generate`, { method_id, entity_id: id });
    if (name === 'person-0')
      await must('POST', `${METHODS}/totp/admin-generate`, { method_id: other, entity_id: id });
  }
  await must('DELETE', `${METHODS}/totp/${method_id}`);
  const left = await harness.store.scan('shared/mfa-totp-secrets/');
  expect(left.map(({ path }) => path.split('/').at(-1))).toEqual([other]);
});
