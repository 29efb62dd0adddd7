/** Secondaries that come and go, and the tokens that let them in, between standalone processes. */
import { findFreePort, type NatsServer, startNats } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateRoot,
  type Kind,
  startCluster,
  until,
  untilEqual,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 120_000;
const POLICY = { policy: 'path "pki/*" { capabilities = ["read"] }' };

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

const base = (kind: Kind): string => `sys/replication/${kind}`;

const issueToken = async (id: string, more: Readonly<Record<string, unknown>> = {}) =>
  (await primary.v1('POST', `${base('performance')}/primary/secondary-token`, { id, ...more }))
    .body;

const enable = (token: unknown, primaryApiAddress = '') =>
  secondary.v1('POST', `${base('performance')}/secondary/enable`, {
    token,
    primary_api_addr: primaryApiAddress,
  });

describe('activation tokens', { timeout: WITHIN_MS }, () => {
  test('are refused when expired, wrapped or sealed to a key, and nothing is cleared', async () => {
    await primary.v1('POST', `${base('performance')}/primary/enable`);
    const made = await secondary.v1('POST', `${base('performance')}/secondary/generate-public-key`);
    const sealed = await issueToken('sealed', {
      ttl: '1s',
      secondary_public_key: made.body.data.secondary_public_key,
    });
    // Expiry is rounded to a whole second: once this longer-lived token has expired, so has the other.
    const wrapped = await issueToken('wrapped', { ttl: '2s' });
    await until(
      () => primary.v1('POST', 'sys/wrapping/lookup', { token: wrapped.wrap_info.token }),
      ({ status }) => status === 400,
    );
    expect(await enable(wrapped.wrap_info.token)).toMatchObject({
      status: 400,
      body: { errors: [expect.stringContaining('error response unwrapping secondary token')] },
    });
    expect(await enable(sealed.data.token)).toMatchObject({
      status: 400,
      body: { errors: [expect.stringContaining('expired')] },
    });
    expect((await secondary.status('performance')).mode).toBe('disabled');
    expect((await secondary.v1('GET', 'auth/token/lookup-self')).status).toBe(200);
    for (const id of ['sealed', 'wrapped'])
      await primary.v1('POST', `${base('performance')}/primary/revoke-secondary`, { id });
  });

  test('end when their secondary is revoked, wrapped or sealed to a key', async () => {
    const made = await secondary.v1('POST', `${base('performance')}/secondary/generate-public-key`);
    const sealed = await issueToken('sealed', {
      secondary_public_key: made.body.data.secondary_public_key,
    });
    const wrapped = await issueToken('wrapped');
    for (const id of ['sealed', 'wrapped'])
      await primary.v1('POST', `${base('performance')}/primary/revoke-secondary`, { id });
    expect(await enable(sealed.data.token)).toMatchObject({
      status: 400,
      body: { errors: ['the token was revoked: its primary does not know this secondary'] },
    });
    const { token } = wrapped.wrap_info;
    expect((await primary.v1('POST', 'sys/wrapping/unwrap', { token })).status).toBe(400);
    expect(await enable(token)).toMatchObject({
      status: 400,
      body: { errors: [expect.stringContaining('error response unwrapping secondary token')] },
    });
    expect((await secondary.status('performance')).mode).toBe('disabled');
  });

  test('are used up by the secondary that joins', async () => {
    const { wrap_info: wrap } = await issueToken('branch');
    // Asked for under this address in place of the one in the token, which stays unused.
    const elsewhere = `http://127.0.0.1:${await findFreePort()}`;
    expect(await enable(wrap.token, elsewhere)).toMatchObject({
      status: 503,
      body: { errors: [expect.stringContaining(`${elsewhere}/v1/sys/wrapping/unwrap`)] },
    });
    expect((await enable(wrap.token, primary.process().http)).status).toBe(200);
    await untilEqual('performance', primary, secondary);
    secondary.token = await generateRoot(secondary, primary.shares);
    await secondary.v1('POST', `${base('performance')}/secondary/disable`);
    expect(await enable(wrap.token)).toMatchObject({ status: 400 });
    expect((await secondary.status('performance')).mode).toBe('disabled');
  });
});

describe('a secondary that was revoked', { timeout: WITHIN_MS }, () => {
  test.for(['branch', 'another'])(
    'joins again as %s and has the data of the primary',
    async (id) => {
      await primary.v1('POST', `${base('performance')}/primary/revoke-secondary`, { id: 'branch' });
      await primary.v1('POST', `sys/policies/acl/meanwhile-${id}`, POLICY);
      // It was disabled, so its data is its own until it is cleared.
      expect((await secondary.v1('POST', `sys/policies/acl/own-${id}`, POLICY)).status).toBe(204);
      await attach('performance', primary, secondary, id);
      await untilEqual('performance', primary, secondary);
      secondary.token = await generateRoot(secondary, primary.shares);
      const seen = await Promise.all(
        [`meanwhile-${id}`, `own-${id}`].map((name) =>
          secondary.v1('GET', `sys/policies/acl/${name}`),
        ),
      );
      expect(seen.map(({ status }) => status)).toEqual([200, 404]);
      await secondary.v1('POST', `${base('performance')}/secondary/disable`);
    },
  );

  test('joins as a DR secondary as well', async () => {
    await primary.v1('POST', `${base('dr')}/primary/enable`);
    await attach('dr', primary, secondary, 'spare');
    await untilEqual('dr', primary, secondary);
    expect((await secondary.status('dr')).secondary_id).toBe('spare');
  });
});

describe('a primary that disables its set', { timeout: WITHIN_MS }, () => {
  test('is followed by no secondary any more, and can create another set', async () => {
    const before = (await primary.status('dr')).cluster_id as string;
    expect((await primary.v1('POST', `${base('dr')}/primary/disable`)).status).toBe(200);
    expect(await primary.status('dr')).toEqual({ mode: 'disabled' });
    await until(
      () => secondary.status('dr'),
      ({ connection_state: connection }) => connection !== 'ready',
    );
    await primary.v1('POST', `${base('dr')}/primary/enable`);
    const after = await primary.status('dr');
    expect(after).toMatchObject({ mode: 'primary', known_secondaries: [], secondaries: [] });
    expect(after.cluster_id).not.toBe(before);
    expect((await secondary.status('dr')).connection_state).not.toBe('ready');
  });
});
