/**
 * Passkeys in the clusters and namespaces that they are of. Logins: services/standalone/test/login-passkeys.
 *
 * | case                                   | outcome                                                          |
 * | -------------------------------------- | ---------------------------------------------------------------- |
 * | an entity that is deleted or merged    | leaves no passkey and no use                                     |
 * | a cluster without a public address     | has a method only with origins of its own                        |
 * | a registration at a secondary          | is made by the primary, and known at both                        |
 * | an origin that the primary has not     | is refused there                                                 |
 * | a method that is deleted               | leaves no passkey and no key, and nobody registers for it        |
 */
import { openSoftwareAuthenticator } from '@keelson/testkit/software-authenticator';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ceremonyToken, joinSet, untilRecord } from '../../test/cluster-steps.ts';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { joinMethod, logIn, mountMethod } from '../../test/login-steps.ts';
import { enrolPasskey, OWN_PASSKEYS, PASSKEY_METHODS } from '../../test/passkey-steps.ts';
import {
  type Document,
  openInitializedSys,
  openSysHarness,
  type SysHarness,
} from '../../test/sys-harness.ts';

const ORIGIN = 'https://keelson.example.com';
const TOTP_METHODS = 'identity/mfa/method/totp';
const PLACES = ['shared/mfa-passkeys/', 'local/mfa-passkey-uses/'];

const must = async (cluster: SysHarness, path: string, body: object): Promise<Document> => {
  const answer = await cluster.asRoot('POST', path, { body });
  expect([200, 204]).toContain(answer.status);
  return (answer.body as Document)?.data;
};

const pathsOf = async ({ store }: SysHarness): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const place of PLACES) for (const { path } of await store.scan(place)) found.push(path);
  return found;
};

describe('in one cluster', () => {
  let harness: SysHarness;
  let uuid: string;
  beforeEach(async () => {
    harness = await openInitializedSys({ config: { publicUrl: ORIGIN } });
    await joinMethod(harness);
    ({ uuid } = await mountMethod(harness, 'people'));
    await must(harness, 'sys/policies/acl/own', { policy: OWN_PASSKEYS });
  });
  afterEach(() => harness.close());

  const enrol = async (mountUuid: string, methodId: string): Promise<string> => {
    const { client_token: token, entity_id: id } = await logIn(harness, mountUuid);
    const added = await enrolPasskey(harness, { token, methodId, origin: ORIGIN });
    expect([added.status, added.body.errors]).toEqual([200, undefined]);
    return id;
  };

  test('an entity that is deleted or merged leaves no passkey and no use of one', async () => {
    const { method_id } = await must(harness, PASSKEY_METHODS, {});
    const other = await mountMethod(harness, 'others');
    const [from, into] = [await enrol(uuid, method_id), await enrol(other.uuid, method_id)];
    expect(await pathsOf(harness)).toHaveLength(4);
    const merge = { from_entity_ids: [from], to_entity_id: into };
    const { status, body } = await harness.asRoot('POST', 'identity/entity/merge', { body: merge });
    expect([status, body.errors]).toEqual([400, [expect.stringMatching(/have passkeys .* force/)]]);
    await must(harness, 'identity/entity/merge', { ...merge, force: true });
    expect(await pathsOf(harness)).toEqual(
      PLACES.map((place) => `${place}root/${into}/${method_id}`),
    );
    await harness.asRoot('DELETE', `identity/entity/id/${into}`);
    expect(await pathsOf(harness)).toEqual([]);
  });

  test('a method that is deleted leaves no passkey and no key, and nobody registers for it', async () => {
    const { method_id: methodId } = await must(harness, PASSKEY_METHODS, {});
    const id = await enrol(uuid, methodId);
    const { client_token: token } = await logIn(harness, uuid);
    const read = async (method: string, path: string) =>
      (await harness.asRoot(method, `${PASSKEY_METHODS}${path}`)).body.data;
    expect((await read('GET', `/entity/${id}`)).passkeys).toMatchObject([
      { name: 'passkey', relying_party_id: 'keelson.example.com', last_use_time: null },
    ]);
    expect((await read('LIST', '')).keys).toEqual([methodId]);
    expect(await read('GET', `/${methodId}`)).toMatchObject({ type: 'webauthn' });
    const { method_id: kept } = await must(harness, PASSKEY_METHODS, {});
    const { method_id: app } = await must(harness, TOTP_METHODS, { issuer: 'Site' });
    const place = { method_id: app, entity_id: id };
    await must(harness, `${TOTP_METHODS}/admin-generate`, place);
    await enrol(uuid, kept);
    await harness.asRoot('DELETE', `${PASSKEY_METHODS}/${methodId}`);
    expect((await read('GET', `/entity/${id}`)).passkeys).toMatchObject([{ method_id: kept }]);
    expect(await pathsOf(harness)).toEqual(PLACES.map((at) => `${at}root/${id}/${kept}`));
    const keys = async () => (await harness.store.scan('shared/mfa-totp-secrets/')).length;
    expect(await keys()).toBe(1);
    await harness.asRoot('DELETE', `${TOTP_METHODS}/${app}`);
    expect(await keys()).toBe(0);
    const own = await harness.call('GET', `${PASSKEY_METHODS}/own`, { token });
    expect(own.body.data.methods).toMatchObject([{ id: kept }]);
    const again = await enrolPasskey(harness, { token, methodId, origin: ORIGIN });
    expect(again.body.errors).toEqual([
      `method_id: there is no MFA method "${methodId}" of passkeys`,
    ]);
  });

  test('a method of passcodes is none of passkeys, and the other way round', async () => {
    const { client_token: token, entity_id } = await logIn(harness, uuid);
    const { method_id: totp } = await must(harness, 'identity/mfa/method/totp', { issuer: 'Site' });
    const refused = await enrolPasskey(harness, { token, methodId: totp, origin: ORIGIN });
    expect(refused.status).toBe(400);
    const { method_id } = await must(harness, PASSKEY_METHODS, {});
    const body = { method_id, entity_id };
    expect(
      (await harness.asRoot('POST', 'identity/mfa/method/totp/admin-generate', { body })).status,
    ).toBe(400);
    const settings = { issuer: 'Site' };
    const path = `identity/mfa/method/totp/${method_id}`;
    expect((await harness.asRoot('POST', path, { body: settings })).status).toBe(400);
  });
});

test('a cluster without a public address has methods with origins of their own', async () => {
  const harness = await openInitializedSys();
  const refused = await harness.asRoot('POST', PASSKEY_METHODS, { body: {} });
  expect([refused.status, refused.body.errors]).toEqual([
    400,
    ['relying_party_origins: the installation has no public address'],
  ]);
  await must(harness, PASSKEY_METHODS, { relying_party_origins: ORIGIN });
  await harness.close();
});

test('a registration at a secondary is made by the primary, for the origins that it knows', async () => {
  const [here, there] = ['https://first.example.com', 'https://second.example.com'];
  const transport = inProcessTransport();
  const primary = await openSysHarness({ transport, config: { publicUrl: here } });
  const { key } = await primary.initialize();
  const secondary = await openSysHarness({ transport, config: { publicUrl: there } });
  const { rootToken: root } = await secondary.initialize();
  await joinSet('performance', primary, { cluster: secondary, root });
  for (const cluster of [primary, secondary]) await joinMethod(cluster);
  await ceremonyToken(secondary, 'sys/generate-root', key);
  const { uuid } = await mountMethod(primary, 'people');
  await must(primary, 'sys/policies/acl/own', { policy: OWN_PASSKEYS });
  const { method_id: alone } = await must(primary, PASSKEY_METHODS, {});
  const { method_id: both } = await must(primary, PASSKEY_METHODS, {
    relying_party_id: 'example.com',
    relying_party_origins: [here, there],
  });
  const { id: somebody } = await must(primary, 'identity/entity', {});
  await must(primary, 'identity/mfa/login-enforcement/people', {
    mfa_method_ids: [both],
    identity_entity_ids: [somebody],
  });
  await untilRecord(secondary, 'shared/mfa-enforcements/root/people', true);
  const { client_token: token, entity_id: id } = await logIn(secondary, uuid);
  const device = openSoftwareAuthenticator();
  const of = { token, device, origin: there };
  const refused = await enrolPasskey(secondary, { ...of, methodId: alone });
  expect(refused.body.errors).toEqual([
    'credential.response.clientDataJSON: the origin is not one of this installation',
  ]);
  expect((await enrolPasskey(secondary, { ...of, methodId: both })).status).toBe(200);
  await untilRecord(secondary, `shared/mfa-passkeys/root/${id}/${both}`, true);
  await must(primary, 'identity/mfa/login-enforcement/people', {
    mfa_method_ids: [both],
    identity_entity_ids: [id],
  });
  const waiting = await logIn(primary, uuid);
  const [{ options }] = waiting.mfa_requirement.mfa_constraints.people.any;
  expect(options).toMatchObject({ rpId: 'example.com', allowCredentials: [{}] });
  expect(device.get(here, options).response.signature).not.toBe('');
  await secondary.close();
  await primary.close();
}, 60_000);
