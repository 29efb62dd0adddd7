/** Nothing remains of a namespace that was removed, on the primary and on a secondary. */
import { declaredRecords } from '@keelson/storage';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ceremonyToken, joinSet, untilRecord } from '../../test/cluster-steps.ts';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import {
  joinMethod,
  logIn,
  loginRequest,
  mountMethod,
  servedMethods,
} from '../../test/login-steps.ts';
import { passcodeApp } from '../../test/passcode-app.ts';
import { enrolPasskey, OWN_PASSKEYS, PASSKEY_METHODS } from '../../test/passkey-steps.ts';
import {
  type Document,
  joinSample,
  openSysHarness,
  type SysHarness,
} from '../../test/sys-harness.ts';
import { OF_NAMESPACE } from '../owners/record-owners.ts';

let primary: SysHarness;
let secondary: SysHarness;
let secondaryRoot: string;
beforeEach(async () => {
  const transport = inProcessTransport();
  primary = await openSysHarness({ transport, authMethods: servedMethods });
  const { key } = await primary.initialize();
  secondary = await openSysHarness({ transport });
  const { rootToken: root } = await secondary.initialize();
  await joinSet('performance', primary, { cluster: secondary, root });
  for (const { sys } of [primary, secondary]) await joinSample(sys);
  await joinMethod(primary);
  secondaryRoot = await ceremonyToken(secondary, 'sys/generate-root', key);
}, 60_000);
afterEach(async () => {
  await secondary.close();
  await primary.close();
});

const pathsNaming = async ({ store }: SysHarness, id: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const scope of ['shared/', 'local/', 'node/'])
    for (const { path } of await store.scan(scope, { onDamaged: (path) => found.push(path) }))
      found.push(path);
  return found.filter((path) => path.split(/[/.]/).includes(id)).toSorted();
};

const must = async (
  asked: Promise<{ readonly status: number; readonly body: Document }>,
): Promise<Document> => {
  const { status, body } = await asked;
  expect([200, 204]).toContain(status);
  return body;
};

/** Tokens with children and secrets, and a lease, which each cluster has for itself. */
const useLocally = async (cluster: SysHarness, root: string, id: string): Promise<void> => {
  const inTeam = { namespace: 'team' };
  const create = { ...inTeam, token: root, body: { policies: ['root'], ttl: '1h' } };
  const { auth } = await must(cluster.call('POST', 'auth/token/create', create));
  const token = auth.client_token;
  await must(cluster.call('POST', 'auth/token/create', { ...create, token }));
  await must(cluster.call('POST', 'cubbyhole/a/b', { ...inTeam, token, body: { a: 1 } }));
  await must(
    cluster.call('POST', 'sys/mounts/own', {
      ...inTeam,
      token: root,
      body: { type: 'sample', local: true },
    }),
  );
  const { data } = await must(cluster.call('GET', 'sys/mounts/own', { ...inTeam, token: root }));
  const { audit } = await cluster.resolve('GET', 'auth/token/lookup-self', { ...inTeam, token });
  await cluster.sys.ledger.register({
    mountUuid: data.uuid,
    requestPath: '/issue/web',
    tokenHash: audit?.caller?.tokenHash ?? '',
    namespace: { id, path: 'team/' },
    ttlSeconds: 600,
    maxTtlSeconds: 3600,
    renewable: true,
    engineData: Buffer.from('serial'),
    tokenType: 'service',
  });
};

/** Signs in to a client, whose code nobody redeems. */
const useProvider = async (token: string): Promise<void> => {
  const inTeam = { namespace: 'team' };
  const ask = (path: string, body: object) =>
    must(primary.asRoot('POST', `identity/oidc/${path}`, { ...inTeam, body }));
  const origin = { issuer: 'https://keelson.example' };
  const redirectUri = 'https://app.example/';
  await ask('config', origin);
  await ask('role/web', { key: 'default' });
  await ask('scope/mail', {});
  await ask('assignment/nobody', {});
  await ask('client/app', { redirect_uris: redirectUri, assignments: 'allow_all' });
  await ask('provider/main', { ...origin, allowed_client_ids: '*' });
  const client = await must(primary.asRoot('GET', 'identity/oidc/client/app', inTeam));
  await must(
    primary.call('POST', 'identity/oidc/provider/main/authorize', {
      ...inTeam,
      token,
      body: {
        client_id: client.data.client_id,
        redirect_uri: redirectUri,
        scope: 'openid',
        response_type: 'code',
      },
    }),
  );
};

/** A passkey of somebody in the namespace, and its use. */
const addPasskey = async (mountUuid: string): Promise<void> => {
  const origin = 'https://keelson.example';
  const ask = (path: string, body: object) =>
    must(primary.asRoot('POST', path, { namespace: 'team', body }));
  const { data } = await ask(PASSKEY_METHODS, { relying_party_origins: origin });
  await ask('sys/policies/acl/own', { policy: OWN_PASSKEYS });
  await ask('identity/mfa/login-enforcement/people', {
    mfa_method_ids: [data.method_id],
    auth_method_types: ['approle'],
  });
  const { client_token: token } = await logIn(primary, mountUuid);
  const whose = { token, methodId: data.method_id, origin, namespace: 'team' };
  await must(enrolPasskey(primary, whose));
};

/** Somebody who is signed in for longer than an hour. */
const stay = async (mountUuid: string): Promise<void> => {
  const { client_token: token } = await logIn(primary, mountUuid, { limits: { ttlSeconds: 7200 } });
  primary.clock.advance(3_600_000);
  await must(primary.call('GET', 'auth/token/lookup-self', { token, namespace: 'team' }));
  await primary.settle('token-uses');
};

/** A login whose second factor is shown afterwards. */
const finishLogin = async (
  mountUuid: string,
  methodId: string,
  passcodeAt: (nowMs: number) => string,
): Promise<void> => {
  const { authJson } = await primary.sys.logins.login(loginRequest(mountUuid));
  const { mfa_request_id } = JSON.parse(authJson).mfa_requirement;
  const mfa_payload = { [methodId]: [passcodeAt(primary.clock.nowMs())] };
  const body = { mfa_request_id, mfa_payload };
  await must(primary.call('POST', 'sys/mfa/validate', { namespace: 'team', body }));
};

const useShared = async (): Promise<void> => {
  await must(
    primary.asRoot('POST', 'sys/quotas/lease-count/team', {
      body: { path: 'team', max_leases: 1000 },
    }),
  );
  const ask = (method: string, path: string, body: object) =>
    must(primary.asRoot(method, path, { namespace: 'team', body }));
  await ask('POST', 'sys/policies/acl/reader', { policy: 'path "a" { capabilities = ["read"] }' });
  await ask('POST', 'auth/token/roles/web', {});
  await ask('POST', 'sys/mounts/ca', { type: 'sample' });
  await ask('POST', 'sys/mounts/cubbyhole/tune', { description: 'mine' });
  await ask('POST', 'sys/config/ui/custom-messages', { title: 'x', message: '', start_time: 0 });
  const { data } = (await primary.asRoot('GET', 'sys/auth', { namespace: 'team' })).body;
  await ask('POST', 'identity/entity-alias', {
    name: 'alice',
    mount_accessor: data['token/'].accessor,
  });
  const { uuid } = await mountMethod(primary, 'people', { namespace: 'team' });
  await stay(uuid);
  const { entity_id, client_token: token } = await logIn(primary, uuid);
  await useProvider(token);
  const { data: method } = await ask('POST', 'identity/mfa/method/totp', { issuer: 'Team' });
  const { method_id } = method;
  const whose = { method_id, entity_id };
  const { data: secret } = await ask('POST', 'identity/mfa/method/totp/admin-generate', whose);
  await ask('POST', 'identity/mfa/login-enforcement/people', {
    mfa_method_ids: [method_id],
    auth_method_types: ['people'],
  });
  await expect(logIn(primary, uuid, { passcodes: [`${method_id}:00000000`] })).rejects.toThrow(
    'the passcode is wrong',
  );
  await finishLogin(uuid, method_id, passcodeApp(secret.url));
  await addPasskey(uuid);
  const { data: group } = await ask('POST', 'identity/group', { type: 'external' });
  await ask('POST', 'identity/group-alias', {
    name: 'staff',
    mount_accessor: data['token/'].accessor,
    canonical_id: group.id,
  });
  await must(
    primary.asRoot('POST', 'sys/quotas/rate-limit/team', { body: { path: 'team', rate: 1000 } }),
  );
  await must(primary.asRoot('POST', 'sys/namespaces/api-lock/lock/team'));
};

test('a namespace takes everything with it, also what a secondary has of its own', async () => {
  const id = await primary.createNamespace('team');
  const record = `shared/core/namespaces/${id}`;
  await untilRecord(secondary, record, true);
  await useLocally(primary, await primary.createToken(['root']), id);
  await useLocally(secondary, secondaryRoot, id);
  await useShared();
  const owned = declaredRecords().filter(
    ({ owners, indexOf }) => owners.some(({ kind }) => kind === OF_NAMESPACE.kind) && !indexOf,
  );
  const before = await pathsNaming(primary, id);
  const unused = owned.flatMap(({ name, scopes }) =>
    before.some((path) => scopes.some((scope) => path.startsWith(`${scope}/${name}/`))) ? [] : name,
  );
  expect(unused).toEqual([]);
  expect((await pathsNaming(secondary, id)).length).toBeGreaterThan(10);

  await must(primary.asRoot('DELETE', 'sys/namespaces/team'));
  await untilRecord(secondary, record, false);
  for (const work of ['departures', 'lease-expiry', 'departures']) await secondary.settle(work);
  // Later deletions below the namespace are still replicated or withheld by the path it had.
  expect(await pathsNaming(primary, id)).toEqual([`local/core/former-namespaces/${id}`]);
  expect(await pathsNaming(secondary, id)).toEqual([]);
}, 60_000);

test('no declared kind of record outlives its namespace, also where it cannot be read', async () => {
  const id = await primary.createNamespace('team');
  await primary.store.transact((tx) => {
    for (const { name, scopes, owners } of declaredRecords())
      for (const { isKey } of owners.filter(({ kind }) => kind === OF_NAMESPACE.kind))
        for (const scope of scopes)
          tx.write(`${scope}/${name}/${id}${isKey === true ? '' : '/key'}`, Buffer.from('{}'));
    return Promise.resolve();
  });
  expect((await pathsNaming(primary, id)).length).toBeGreaterThan(11);
  await must(primary.asRoot('DELETE', 'sys/namespaces/team'));
  expect(await pathsNaming(primary, id)).toEqual([`local/core/former-namespaces/${id}`]);
}, 60_000);
