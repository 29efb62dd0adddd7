/** Access of callers with different tokens to the administrative endpoints, through Access.Resolve. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
let root: string;
beforeEach(async () => {
  harness = await openInitializedSys();
  root = await harness.createToken(['root']);
});
afterEach(() => harness.close());

const asRoot = (method: string, path: string, body?: unknown, namespace?: string) =>
  harness.call(method, path, { token: root, body, namespace });
const issue = async (policy: string): Promise<string> => {
  await asRoot('PUT', 'sys/policies/acl/sample', { policy });
  const { body } = await asRoot('POST', 'auth/token/create', { policies: ['sample'] });
  return body.auth.client_token;
};
const MESSAGE = { title: 'x', message: '', start_time: '2029-01-01T00:00:00Z' };

describe('custom messages', () => {
  const BASE = 'sys/config/ui/custom-messages';

  test('require create for the collection and update for one', async () => {
    const creator = await issue(`path "${BASE}" { capabilities = ["create"] }`);
    const made = await harness.call('POST', BASE, { token: creator, body: MESSAGE });
    expect(made.status).toBe(200);
    const member = `${BASE}/${made.body.data.id}`;
    expect((await harness.call('POST', member, { token: creator, body: MESSAGE })).status).toBe(
      403,
    );
    const updater = await issue(`path "${BASE}*" { capabilities = ["update"] }`);
    expect((await harness.call('POST', BASE, { token: updater, body: MESSAGE })).status).toBe(403);
    expect((await harness.call('POST', member, { token: updater, body: MESSAGE })).status).toBe(
      200,
    );
  });

  test('are shown before login to anyone and after login only to tokens', async () => {
    await asRoot('POST', BASE, { ...MESSAGE, authenticated: false });
    await asRoot('POST', BASE, { ...MESSAGE, authenticated: true });
    const shown = async (kind: string, token?: string) =>
      (await harness.call('GET', `sys/internal/ui/${kind}-messages`, { token })).body.data.keys
        ?.length ?? 0;
    expect(await shown('unauthenticated')).toBe(1);
    expect(await shown('authenticated')).toBe(0);
    expect(await shown('authenticated', root)).toBe(1);
    expect((await harness.call('LIST', BASE)).status).toBe(403);
  });
});

describe('a wrapping token', () => {
  const wrapped = async () =>
    (await harness.call('GET', 'sys/mounts', { token: root, wrapTtlSeconds: 60 })).body.wrap_info
      .token;

  test('unwraps once, in the header or in the body', async () => {
    for (const send of [
      (token: string) => harness.call('POST', 'sys/wrapping/unwrap', { token }),
      (token: string) => harness.call('POST', 'sys/wrapping/unwrap', { body: { token } }),
      (token: string) =>
        harness.call('POST', 'sys/wrapping/unwrap', { token: root, body: { token } }),
    ]) {
      const token = await wrapped();
      expect((await harness.call('POST', 'sys/wrapping/lookup', { body: { token } })).status).toBe(
        200,
      );
      const first = await send(token);
      expect(first.status).toBe(200);
      expect(Object.keys(first.body.data)).toContain('sys/');
      expect(await send(token)).toMatchObject({
        status: 400,
        body: { errors: ['wrapping token is not valid or does not exist'] },
      });
    }
  });

  test('has no other permission', async () => {
    const token = await wrapped();
    expect((await harness.call('GET', 'sys/mounts', { token })).status).toBe(403);
    expect((await harness.call('GET', 'auth/token/lookup-self', { token })).status).toBe(403);
  });
});

describe('mounts', () => {
  test('are routed to the service of their engine, in their namespace only', async () => {
    await asRoot('POST', 'sys/namespaces/team');
    expect((await asRoot('POST', 'sys/mounts/ca/inner', { type: 'sample' }, 'team')).status).toBe(
      204,
    );
    const found = await asRoot('GET', 'team/ca/inner/roles/web');
    expect(found.body).toEqual({ service: 'sample' });
    const { outcome } = await harness.resolve('GET', 'team/ca/inner/roles/web', { token: root });
    expect(outcome?.value).toMatchObject({
      path: '/roles/web',
      mount: { path: 'ca/inner/', type: 'sample', namespace: { path: 'team/' } },
    });
    expect((await harness.call('GET', 'team/ca/inner/ca')).body).toEqual({ service: 'sample' });
    expect((await harness.call('GET', 'team/ca/inner/roles/web')).status).toBe(403);
    expect((await asRoot('GET', 'ca/inner/roles/web')).status).toBe(404);
    expect((await asRoot('POST', 'sys/audit/x', { type: 'file' }, 'team')).status).toBe(404);
  });

  test('and their leases end together', async () => {
    await asRoot('POST', 'sys/mounts/ca', { type: 'sample' });
    const { uuid } = (await asRoot('GET', 'sys/mounts/ca')).body.data;
    const { audit } = await harness.resolve('GET', 'ca/roles/web', { token: root });
    const caller = audit?.caller;
    const lease = await harness.sys.ledger.register({
      mountUuid: uuid,
      requestPath: 'issue/web',
      tokenHash: caller?.tokenHash ?? '',
      namespace: caller?.namespace,
      ttlSeconds: 60,
      maxTtlSeconds: 60,
      renewable: false,
      engineData: Buffer.from('serial'),
      tokenType: 'service',
    });
    const body = { lease_id: lease.leaseId };
    const holder = await issue('path "x" { capabilities = ["read"] }');
    const lookup = await harness.call('POST', 'sys/leases/lookup', { token: holder, body });
    expect(lookup.body.data.ttl).toBe(60);
    await asRoot('POST', 'sys/leases/revoke', { ...body, sync: true });
    expect(harness.engine.revoked.map(({ leaseId }) => leaseId)).toEqual([lease.leaseId]);
  });
});

test('a locked namespace answers 503 until it is unlocked', async () => {
  await asRoot('POST', 'sys/namespaces/team');
  const { body } = await asRoot('POST', 'sys/namespaces/api-lock/lock/team');
  expect(await asRoot('GET', 'team/sys/mounts')).toMatchObject({
    status: 503,
    body: { errors: [expect.stringContaining('"team/" must be unlocked to gain access.')] },
  });
  expect((await asRoot('POST', 'team/sys/namespaces/api-lock/unlock', body.data)).status).toBe(204);
  expect((await asRoot('GET', 'team/sys/mounts')).status).toBe(200);
});

test('deleting a namespace deletes its tokens', async () => {
  await asRoot('POST', 'sys/namespaces/team');
  const made = await asRoot('POST', 'team/auth/token/create', {
    policies: ['default'],
    no_parent: true,
  });
  const token = made.body.auth.client_token;
  const self = () => harness.call('GET', 'team/auth/token/lookup-self', { token });
  expect((await self()).status).toBe(200);
  expect((await asRoot('DELETE', 'sys/namespaces/team')).status).toBe(200);
  expect((await self()).status).toBe(404);
  await asRoot('POST', 'sys/namespaces/team');
  expect((await self()).status).toBe(403);
});
