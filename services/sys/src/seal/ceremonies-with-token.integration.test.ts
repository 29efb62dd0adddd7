/** Ceremonies that need a token: everywhere by a setting, and always at the addresses of OpenBao. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { advanceClockUntilSettled } from '../../test/cluster-steps.ts';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import {
  type Document,
  openSysHarness,
  type SysHarness,
  type SysHarnessOptions,
  type SysRequest,
} from '../../test/sys-harness.ts';

let harness: SysHarness;
let root: string;
let keys: string[];
const open = async (options: SysHarnessOptions = {}): Promise<void> => {
  harness = await openSysHarness(options);
  const made = await harness.sys.seal.initialize({ shares: 3, threshold: 2 });
  root = made.rootToken;
  keys = [...made.keys];
};
beforeEach(() => open());
afterEach(() => harness.close());

const call = (method: string, path: string, request: SysRequest = {}) =>
  harness.call(method, path, request);
const put = (path: string, body: Document = {}) => call('PUT', path, { body });

describe('the addresses that need a token', () => {
  const asRoot = async (method: string, path: string, body?: Document): Promise<Document> =>
    (await call(method, path, { token: root, body })).body?.data;

  test('carry out the same attempts, in the envelope', async () => {
    const attempt = 'sys/generate-root-token/attempt';
    const { nonce, otp } = await asRoot('PUT', attempt, {});
    expect((await call('GET', 'sys/generate-root/attempt')).body.nonce).toBe(nonce);
    await put('sys/generate-root/update', { key: keys[0], nonce });
    const given = { key: keys[1], nonce };
    const done = await asRoot('PUT', 'sys/generate-root-token/update', given);
    expect(done).toMatchObject({ complete: true, progress: 2 });
    const decoded = await put('sys/decode-token', { encoded_token: done.encoded_token, otp });
    expect(decoded.body.data.token).toMatch(/^hvs\./);
    await asRoot('PUT', attempt, {});
    expect((await call('DELETE', attempt, { token: root })).status).toBe(204);
    expect((await asRoot('GET', attempt)).started).toBe(false);
  });

  test('replace the shares, with verification and backup', async () => {
    const base = 'sys/rotate/root';
    const start = { secret_shares: 1, secret_threshold: 1, require_verification: true };
    const { nonce } = await asRoot('PUT', `${base}/init`, start);
    expect(await asRoot('GET', `${base}/init`)).toMatchObject({ nonce, started: true });
    await asRoot('PUT', `${base}/update`, { key: keys[0], nonce });
    const made = await asRoot('PUT', `${base}/update`, { key: keys[1], nonce });
    const verification = await asRoot('GET', `${base}/verify`);
    expect(verification).toMatchObject({ nonce: made.verification_nonce, started: true });
    const share = { key: made.keys[0], nonce: verification.nonce };
    expect(await asRoot('PUT', `${base}/verify`, share)).toMatchObject({ complete: true });
    const { body } = await call('GET', `${base}/backup`, { token: root });
    expect(body.errors).toEqual(['no backed-up keys found']);
    expect(
      (await call('PUT', 'sys/rotate/recovery/init', { token: root, body: start })).status,
    ).toBe(400);
  });

  test('are closed to key shares alone', async () => {
    for (const path of [
      'generate-root-token/attempt',
      'rotate/root/init',
      'rotate/recovery/verify',
    ])
      expect([path, (await call('GET', `sys/${path}`)).status]).toEqual([path, 403]);
  });

  test('rotate the key of the barrier', async () => {
    expect((await call('PUT', 'sys/rotate/keyring', { token: root })).status).toBe(204);
    expect((await asRoot('GET', 'sys/key-status')).term).toBe(2);
    await asRoot('PUT', 'sys/rotate/keyring/config', { interval: '48h' });
    expect((await asRoot('GET', 'sys/rotate/config')).interval).toBe(172_800);
  });
});

describe('with ceremonies that need a token', () => {
  const DR = 'sys/replication/dr/secondary/generate-operation-token';
  const ROUTES = [
    ...['GET', 'PUT', 'DELETE'].flatMap((method) =>
      [
        'sys/generate-root/attempt',
        'sys/rekey/init',
        'sys/rekey-recovery-key/init',
        `${DR}/attempt`,
      ].map((path) => [method, path] as const),
    ),
    ...['sys/generate-root/update', 'sys/rekey/update', 'sys/rekey-recovery-key/update']
      .concat('sys/rekey/verify', 'sys/rekey-recovery-key/verify', `${DR}/update`)
      .map((path) => ['PUT', path] as const),
  ];
  const outcomeOf = async (method: string, path: string, token: string) => {
    const { outcome } = await harness.resolve(method, path, { token });
    return outcome?.$case === 'refused' ? outcome.value.code : outcome?.$case;
  };
  const outcomes = async (token: string) =>
    new Set(await Promise.all(ROUTES.map(([method, path]) => outcomeOf(method, path, token))));

  beforeEach(async () => {
    await harness.close();
    await open({ config: { ceremoniesWithoutToken: false }, transport: inProcessTransport() });
  });

  test('key shares alone reach none of their routes; a token with sudo does', async () => {
    for (const [name, capabilities] of [
      ['plain', ['create', 'read', 'update', 'delete']],
      ['sudo', ['create', 'read', 'update', 'delete', 'sudo']],
    ] as const) {
      const policy = JSON.stringify({ path: { 'sys/*': { capabilities } } });
      await call('PUT', `sys/policies/acl/${name}`, { token: root, body: { policy } });
    }
    const tokenWith = async (name: string): Promise<string> => {
      const body = { policies: [name], no_parent: true };
      return (await call('POST', 'auth/token/create', { token: root, body })).body.auth
        .client_token;
    };
    expect(await outcomes('')).toEqual(new Set(['sys.token_required']));
    expect(await outcomes(await tokenWith('plain'))).toEqual(new Set(['sys.permission_denied']));
    expect(await outcomes(await tokenWith('sudo'))).toEqual(new Set(['allowed']));
    const { nonce } = (await call('PUT', 'sys/generate-root/attempt', { token: root })).body;
    for (const key of keys.slice(0, 2))
      await call('PUT', 'sys/generate-root/update', { token: root, body: { key, nonce } });
    const seen = await call('GET', 'sys/generate-root/attempt', { token: root });
    expect(seen.body.started).toBe(false);
  });

  test('a DR secondary is no exception', async () => {
    await call('POST', 'sys/replication/dr/primary/enable', { token: root });
    await advanceClockUntilSettled(
      harness,
      call('POST', 'sys/replication/dr/primary/demote', { token: root }),
    );
    expect(await outcomeOf('PUT', `${DR}/attempt`, '')).toBe('sys.token_required');
    expect((await call('PUT', `${DR}/attempt`, { token: root })).body.started).toBe(true);
  });

  test('the OpenAPI document says so', async () => {
    const { pathsJson } = await harness.sys.edge.describe();
    const paths = JSON.parse(pathsJson) as Record<string, Record<string, { security?: unknown }>>;
    expect(paths['/sys/generate-root/update']?.['post']?.security).toBeUndefined();
    expect(paths['/sys/unseal']?.['post']?.security).toEqual([]);
  });
});
