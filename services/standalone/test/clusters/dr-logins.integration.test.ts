/**
 * Logins at a disaster recovery secondary, before and after it has taken over:
 *
 * | what the primary had                     | at the secondary | once it has been promoted                       |
 * | ---------------------------------------- | ---------------- | ----------------------------------------------- |
 * | users, roles, secret ids                 | sign nobody in   | sign in                                         |
 * | tokens of logins                         | open nothing     | are still valid, and listed to the person       |
 * | the uses that a secret id has left       | –                | are as many                                     |
 * | a passcode that was used                 | –                | is still used                                   |
 * | a user who was locked                    | –                | is locked                                       |
 * | the token of a run, a key for `jwt`      | sign nobody in   | sign in, the former until its phase has ended   |
 */
import { generateKeyPairSync } from 'node:crypto';
import { type NatsServer, startNats } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateOperationToken,
  startCluster,
  until,
  untilEqual,
} from '@keelson/testkit/replication-cluster';
import { URI } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRunWithToken } from '../run-with-token.ts';
import { signClaims } from '../signed-claims.ts';

const WITHIN_MS = 120_000;
const TOTP = 'identity/mfa/method/totp';

let nats: NatsServer;
let primary: Cluster;
let secondary: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  [primary, secondary] = await Promise.all([startCluster(nats.url), startCluster(nats.url)]);
}, WITHIN_MS);
afterAll(async () => {
  await primary.stop();
  await secondary.stop();
  await nats[Symbol.asyncDispose]();
}, WITHIN_MS);

const post = (cluster: Cluster, path: string, body: object) => cluster.v1('POST', path, body, '');
const logIn = (cluster: Cluster, name: string, password = 'pw') =>
  post(cluster, `auth/userpass/login/${name}`, { password });
const statusOfToken = async (cluster: Cluster, token: string): Promise<number> =>
  (await cluster.v1('GET', 'auth/token/lookup-self', undefined, token)).status;
const ownTokens = (cluster: Cluster, token: string) =>
  cluster.v1('GET', 'auth/token/own', undefined, token);

/** A user of the primary whose logins need a passcode. */
const addPasscodeUser = async () => {
  const { entity_id } = (await logIn(primary, 'hedy')).body.auth;
  const { method_id } = (await primary.v1('POST', TOTP, { issuer: 'Keelson' })).body.data;
  const key = await primary.v1('POST', `${TOTP}/admin-generate`, { method_id, entity_id });
  const enforced = { mfa_method_ids: method_id, identity_entity_ids: entity_id };
  await primary.v1('POST', 'identity/mfa/login-enforcement/hedy', enforced);
  const finish = async (cluster: Cluster, passcode: string): Promise<number> => {
    const { mfa_requirement: waiting } = (await logIn(cluster, 'hedy')).body.auth;
    const payload = {
      mfa_request_id: waiting.mfa_request_id,
      mfa_payload: { [method_id]: [passcode] },
    };
    return (await post(cluster, 'sys/mfa/validate', payload)).status;
  };
  return { app: URI.parse(key.body.data.url), finish };
};

/** A method of the primary that knows a key. @returns signs in with a token of that key */
const addKeyMethod = async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  await primary.v1('POST', 'sys/auth/jwt', { type: 'jwt' });
  await primary.v1('POST', 'auth/jwt/config', { jwt_validation_pubkeys: pem });
  const role = { role_type: 'jwt', user_claim: 'sub', bound_subject: 'job' };
  await primary.v1('POST', 'auth/jwt/role/ci', role);
  const iat = Math.floor(Date.now() / 1000);
  const jwt = signClaims(privateKey, { sub: 'job', iat, exp: iat + 3600 });
  return async (cluster: Cluster): Promise<number> =>
    (await post(cluster, 'auth/jwt/login', { role: 'ci', jwt })).status;
};

test('a secondary signs nobody in, and knows after the failover whatever the primary knew', {
  timeout: WITHIN_MS,
}, async () => {
  const setUp = async (path: string, body: object) =>
    expect((await primary.v1('POST', path, body)).status).toBeLessThan(300);
  await setUp('sys/auth/userpass', { type: 'userpass' });
  await setUp('sys/auth/approle', { type: 'approle' });
  for (const name of ['alice', 'hedy', 'mallory'])
    await setUp(`auth/userpass/users/${name}`, { password: 'pw' });
  await setUp('auth/approle/role/ci', { role_id: 'the-ci', secret_id_num_uses: 2 });
  const made = await primary.v1('POST', 'auth/approle/role/ci/secret-id', {});
  const credentials = { role_id: 'the-ci', secret_id: made.body.data.secret_id };
  const asRole = async (cluster: Cluster): Promise<number> =>
    (await post(cluster, 'auth/approle/login', credentials)).status;
  const { app, finish } = await addPasscodeUser();
  const byKey = await addKeyMethod();
  const run = await startRunWithToken(primary);
  const timestamp = Date.now();
  const used = app.generate({ timestamp });

  await setUp('sys/replication/dr/primary/enable', {});
  await attach('dr', primary, secondary, 'copy');
  const { client_token: token } = (await logIn(primary, 'alice')).body.auth;
  expect([await asRole(primary), await finish(primary, used)]).toEqual([200, 200]);
  expect([await byKey(primary), await run.signInAt(primary)]).toEqual([200, 200]);
  for (let guess = 0; guess < 5; guess += 1) await logIn(primary, 'mallory', 'wrong');
  await untilEqual('dr', primary, secondary);

  const refused = [
    (await logIn(secondary, 'alice')).status,
    await asRole(secondary),
    await byKey(secondary),
    await run.signInAt(secondary),
    await statusOfToken(secondary, token),
    (await ownTokens(secondary, token)).status,
    (await post(secondary, 'sys/mfa/validate', { mfa_request_id: 'x', mfa_payload: {} })).status,
    (await secondary.api('POST', 'sessions', {}, '')).status,
  ];
  expect(refused).toEqual(Array(8).fill(400));

  const dr_operation_token = await generateOperationToken(secondary, primary.shares);
  await primary.process().stop('SIGKILL');
  const promoted = await until(
    () =>
      secondary.v1('POST', 'sys/replication/dr/secondary/promote', {
        dr_operation_token,
        force: true,
      }),
    ({ status }) => status !== 503,
  );
  expect(promoted.status).toBe(200);
  expect(await statusOfToken(secondary, token)).toBe(200);
  expect((await ownTokens(secondary, token)).body.data.tokens).toHaveLength(1);
  expect((await logIn(secondary, 'alice')).status).toBe(200);
  expect((await ownTokens(secondary, token)).body.data.tokens).toHaveLength(2);
  const ended = await secondary.v1('POST', 'auth/token/own/revoke-others', {}, token);
  expect(ended.body.data).toEqual({ revoked: 1 });
  expect([await asRole(secondary), await asRole(secondary)]).toEqual([200, 400]);
  expect(await finish(secondary, used)).toBe(403);
  expect(await finish(secondary, app.generate({ timestamp: timestamp + 30_000 }))).toBe(200);
  expect((await logIn(secondary, 'mallory')).status).toBe(403);
  expect([await byKey(secondary), await run.signInAt(secondary)]).toEqual([200, 200]);
  await run.finishAt(secondary);
  expect(await run.signInAt(secondary)).toBe(400);
});
