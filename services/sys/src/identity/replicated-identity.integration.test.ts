/** Entities in a performance set: all clusters have them, and the primary writes them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ceremonyToken, joinSet, untilRecord } from '../../test/cluster-steps.ts';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { joinMethod, logIn, mountMethod } from '../../test/login-steps.ts';
import { openSysHarness, type SysHarness } from '../../test/sys-harness.ts';

let primary: SysHarness;
let secondary: SysHarness;
let secondaryRoot: string;
let uuid: string;
beforeAll(async () => {
  const transport = inProcessTransport();
  primary = await openSysHarness({ transport });
  const { key } = await primary.initialize();
  secondary = await openSysHarness({ transport });
  const { rootToken: root } = await secondary.initialize();
  await joinSet('performance', primary, { cluster: secondary, root });
  for (const cluster of [primary, secondary]) await joinMethod(cluster);
  secondaryRoot = await ceremonyToken(secondary, 'sys/generate-root', key);
  ({ uuid } = await mountMethod(primary, 'people'));
  await untilRecord(secondary, `shared/core/mounts/root/${uuid}`, true);
}, 60_000);
afterAll(async () => {
  await secondary.close();
  await primary.close();
});

const statusOf = async (cluster: SysHarness, token: string): Promise<number> =>
  (await cluster.call('GET', 'auth/token/lookup-self', { token })).status;

test('a login at the secondary has the entity that the primary creates', async () => {
  const there = await logIn(secondary, uuid, { aliasMetadata: { team: 'a' } });
  const here = await logIn(primary, uuid, { aliasMetadata: { team: 'a' } });
  expect(here.entity_id).toBe(there.entity_id);
  expect(await statusOf(secondary, there.client_token)).toBe(200);
  expect(await statusOf(primary, there.client_token)).toBe(403);
  const path = `identity/entity/id/${here.entity_id}`;
  const { body } = await primary.asRoot('GET', path);
  expect(body.data.aliases).toMatchObject([{ name: 'alice', metadata: { team: 'a' } }]);
  const later = await logIn(secondary, uuid, { aliasMetadata: { team: 'b' } });
  expect(later.entity_id).toBe(here.entity_id);
  const changed = await primary.asRoot('GET', path);
  expect(changed.body.data.aliases).toMatchObject([{ metadata: { team: 'b' } }]);
});

test('a token with an alias at the secondary has the entity that the primary creates', async () => {
  await primary.asRoot('POST', 'auth/token/roles/ci', { body: { allowed_entity_aliases: ['*'] } });
  await untilRecord(secondary, 'shared/token-roles/root/ci', true);
  const body = { entity_alias: 'bot' };
  const there = await secondary.call('POST', 'auth/token/create/ci', {
    token: secondaryRoot,
    body,
  });
  expect([there.status, there.body.errors]).toEqual([200, undefined]);
  const id = there.body.auth.entity_id;
  const here = await primary.asRoot('POST', 'auth/token/create/ci', { body });
  expect(here.body.auth.entity_id).toBe(id);
  expect((await primary.asRoot('GET', `identity/entity/id/${id}`)).status).toBe(200);
});

test('logins at both at the same time make one entity', async () => {
  const made = await Promise.all(
    [primary, secondary, primary, secondary].map((cluster) =>
      logIn(cluster, uuid, { aliasName: 'bob' }),
    ),
  );
  expect(new Set(made.map(({ entity_id }) => entity_id)).size).toBe(1);
});

test('an entity that the primary deletes has no token left at the secondary', async () => {
  const { client_token: token, entity_id: id } = await logIn(secondary, uuid, {
    aliasName: 'carol',
  });
  const record = `shared/entities/root/${id}`;
  await untilRecord(secondary, record, true);
  expect(await statusOf(secondary, token)).toBe(200);
  await primary.asRoot('DELETE', `identity/entity/id/${id}`);
  await untilRecord(secondary, record, false);
  expect(await statusOf(secondary, token)).toBe(403);
});

test('a change at the secondary is made by the primary', async () => {
  const { status, body } = await secondary.call('POST', 'identity/entity', {
    token: secondaryRoot,
    body: { name: 'dave' },
  });
  expect(status).toBe(200);
  expect((await primary.asRoot('GET', `identity/entity/id/${body.data.id}`)).status).toBe(200);
});
