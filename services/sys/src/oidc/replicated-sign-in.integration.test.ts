/**
 * Signing in to clients in a performance set.
 *
 * | case                                              | outcome                                                 |
 * | ------------------------------------------------- | ------------------------------------------------------- |
 * | a sign-in at a secondary                          | tokens in its own name, by the keys of the primary       |
 * | a code of the secondary elsewhere                 | refused: each cluster has its own                        |
 * | its access token elsewhere                        | shows the same: all have the same entities and keys      |
 * | settings that are written at the secondary        | are those of the primary                                 |
 * | a rotation                                        | is the primary's, and takes effect at the secondary      |
 * | a namespace that is locked                        | gives no tokens                                          |
 */
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ceremonyToken, joinSet, untilRecord } from '../../test/cluster-steps.ts';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { joinMethod, logIn, mountMethod } from '../../test/login-steps.ts';
import { type Document, openSysHarness, type SysHarness } from '../../test/sys-harness.ts';

const HERE = 'https://first.example';
const THERE = 'https://second.example';
const CALLBACK = 'https://app.example/callback';
const PROVIDER = 'identity/oidc/provider/default';

let primary: SysHarness;
let secondary: SysHarness;
let secondaryRoot: string;
let client: { readonly id: string; readonly secret: string };
let token: string;
beforeAll(async () => {
  const transport = inProcessTransport();
  primary = await openSysHarness({ transport, config: { publicUrl: HERE } });
  const { key } = await primary.initialize();
  secondary = await openSysHarness({ transport, config: { publicUrl: THERE } });
  const { rootToken: root } = await secondary.initialize();
  await joinSet('performance', primary, { cluster: secondary, root });
  for (const cluster of [primary, secondary]) await joinMethod(cluster);
  secondaryRoot = await ceremonyToken(secondary, 'sys/generate-root', key);
  const { uuid } = await mountMethod(primary, 'people');
  await untilRecord(secondary, `shared/core/mounts/root/${uuid}`, true);
  // The request is forwarded to the primary.
  const made = await secondary.call('POST', 'identity/oidc/client/app', {
    token: secondaryRoot,
    body: { redirect_uris: CALLBACK, assignments: 'allow_all' },
  });
  if (made.status !== 204) throw new Error(`the client was not made: ${made.status}`);
  const { data } = (await primary.asRoot('GET', 'identity/oidc/client/app')).body;
  client = { id: data.client_id, secret: data.client_secret };
  await untilRecord(secondary, 'shared/oidc-clients/root/app', true);
  await untilRecord(secondary, 'shared/oidc-keys/root/default', true);
  token = (await logIn(secondary, uuid, { limits: { policies: ['default'] } })).client_token;
}, 60_000);
afterAll(async () => {
  await secondary.close();
  await primary.close();
});

const codeFor = async (): Promise<string> => {
  const { status, body } = await secondary.call('POST', `${PROVIDER}/authorize`, {
    token,
    body: {
      client_id: client.id,
      redirect_uri: CALLBACK,
      scope: 'openid',
      response_type: 'code',
    },
  });
  expect([status, body.error_description]).toEqual([200, undefined]);
  return body.code;
};
const redeem = async (at: SysHarness, code: string): Promise<Document> =>
  at.call('POST', `${PROVIDER}/token`, {
    credentials: `${client.id}:${client.secret}`,
    body: { grant_type: 'authorization_code', redirect_uri: CALLBACK, code },
  });

test('a sign-in at a secondary yields tokens in its own name, by a code that is of use there alone', async () => {
  const elsewhere = await redeem(primary, await codeFor());
  expect([elsewhere.status, elsewhere.body.error]).toEqual([400, 'invalid_grant']);
  const { status, body } = await redeem(secondary, await codeFor());
  expect(status).toBe(200);
  const keys = (await primary.call('GET', `${PROVIDER}/.well-known/keys`)).body;
  await expect(
    jwtVerify(body.id_token, createLocalJWKSet(keys), {
      issuer: `${THERE}/v1/${PROVIDER}`,
      audience: client.id,
      currentDate: new Date(secondary.clock.nowMs()),
    }),
  ).resolves.toMatchObject({ protectedHeader: { alg: 'RS256' } });
  const info = (at: SysHarness) =>
    at.call('GET', `${PROVIDER}/userinfo`, { token: body.access_token });
  expect((await info(secondary)).status).toBe(200);
  expect((await info(primary)).body).toEqual((await info(secondary)).body);
});

test('a rotation at the secondary is made by the primary, and then signs at both', async () => {
  const signer = async () => {
    const { body } = await redeem(secondary, await codeFor());
    return decodeProtectedHeader(body.id_token).kid;
  };
  const before = await signer();
  const rotated = await secondary.call('POST', 'identity/oidc/key/default/rotate', {
    token: secondaryRoot,
    body: {},
  });
  expect(rotated.status).toBeLessThan(300);
  await expect.poll(signer).not.toBe(before);
});

test('a namespace that is locked gives no tokens', async () => {
  const at = (method: string, path: string, body?: object) =>
    primary.asRoot(method, path, { namespace: 'team', ...(body && { body }) });
  await primary.createNamespace('team');
  expect((await at('GET', `${PROVIDER}/.well-known/openid-configuration`)).status).toBe(200);
  await primary.asRoot('POST', 'sys/namespaces/api-lock/lock/team');
  for (const path of ['token', 'userinfo', '.well-known/keys'])
    expect((await at(path === 'token' ? 'POST' : 'GET', `${PROVIDER}/${path}`, {})).status).toBe(
      503,
    );
});
