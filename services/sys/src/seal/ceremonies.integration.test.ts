import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Document,
  openSysHarness,
  type SysHarness,
  type SysRequest,
} from '../../test/sys-harness.ts';
import { sealRecords, shareSealRecords } from './seal-records.ts';

/** A share of the right length that nobody has made. */
const FALSE_SHARE = `${'00'.repeat(32)}07`;
const FOREIGN = 'invalid key share: this cluster has not made it, or a rekey has replaced it';

let harness: SysHarness;
let root: string;
let keys: string[];
beforeEach(async () => {
  harness = await openSysHarness();
  const made = await harness.sys.seal.initialize({ shares: 3, threshold: 2 });
  root = made.rootToken;
  keys = [...made.keys];
});
afterEach(() => harness.close());

const call = (method: string, path: string, request: SysRequest = {}) =>
  harness.call(method, path, request);
const put = (path: string, body: Document = {}) => call('PUT', path, { body });
const refusal = async (path: string, body: Document): Promise<[number, string]> => {
  const answer = await put(path, body);
  return [answer.status, answer.body?.errors?.[0]];
};

describe('generate-root', () => {
  const ATTEMPT = 'sys/generate-root/attempt';
  const UPDATE = 'sys/generate-root/update';

  test('creates a root token that the one-time password decodes', async () => {
    const started = (await put(ATTEMPT)).body;
    expect(started).toMatchObject({ started: true, progress: 0, required: 2, otp_length: 28 });
    expect(started.otp).toMatch(/^\w{28}$/);
    expect((await call('GET', ATTEMPT, { token: root })).body).toMatchObject({
      otp: '',
      nonce: started.nonce,
    });
    const { nonce } = started;
    expect((await put(UPDATE, { key: keys[0], nonce })).body).toMatchObject({
      progress: 1,
      complete: false,
    });
    const done = (await put(UPDATE, { key: keys[2], nonce })).body;
    expect(done).toMatchObject({ complete: true, progress: 2 });
    const decoded = await put('sys/decode-token', {
      encoded_token: done.encoded_token,
      otp: started.otp,
    });
    const token = decoded.body.data.token;
    expect((await call('GET', 'auth/token/lookup-self', { token })).body.data.policies).toEqual([
      'root',
    ]);
  });

  test('refuses a PGP key that cannot encrypt before any share is given', async () => {
    const { generateKey } = await import('openpgp');
    const { publicKey } = await generateKey({
      userIDs: [{ name: 'signer' }],
      subkeys: [{ sign: true }],
      format: 'binary',
    });
    const signing = Buffer.from(publicKey).toString('base64');
    expect(await refusal(ATTEMPT, { pgp_key: signing })).toEqual([
      400,
      'error encrypting to PGP key',
    ]);
    expect(await refusal(ATTEMPT, { pgp_key: 'eA==' })).toEqual([400, 'error parsing PGP key']);
    expect((await call('GET', ATTEMPT)).body.started).toBe(false);
  });

  test('refuses as documented and allows one attempt at a time', async () => {
    expect(await refusal(UPDATE, { key: keys[0], nonce: 'x' })).toEqual([
      400,
      'no root generation in progress',
    ]);
    const { nonce } = (await put(ATTEMPT)).body;
    expect(await refusal(ATTEMPT, {})).toEqual([400, 'root generation already in progress']);
    expect(await refusal(UPDATE, { nonce })).toEqual([
      400,
      "'key' must be specified in request body as JSON",
    ]);
    expect(await refusal(UPDATE, { key: '!', nonce })).toEqual([
      400,
      "'key' must be a valid hex or base64 string",
    ]);
    expect(await refusal(UPDATE, { key: 'AAAA', nonce })).toEqual([
      400,
      'key is shorter than minimum 16 bytes',
    ]);
    expect(await refusal(UPDATE, { key: keys[0], nonce: 'x' })).toEqual([
      400,
      'incorrect nonce supplied for this root generation operation',
    ]);
    await put(UPDATE, { key: keys[0], nonce });
    expect(await refusal(UPDATE, { key: keys[0], nonce })).toEqual([
      400,
      'given key has already been provided during this generation operation',
    ]);
  });

  test('a share that is not one of the set is refused at once and spoils nothing', async () => {
    const { nonce } = (await put(ATTEMPT)).body;
    await put(UPDATE, { key: keys[0], nonce });
    expect(await refusal(UPDATE, { key: FALSE_SHARE, nonce })).toEqual([400, FOREIGN]);
    expect((await call('GET', ATTEMPT)).body).toMatchObject({ started: true, progress: 1, nonce });
    expect((await put(UPDATE, { key: keys[1], nonce })).body.complete).toBe(true);
  });

  test('an attempt is cancelled by its nonce with a share, by sudo, or after ten minutes', async () => {
    const cancel = async (request: SysRequest = {}) =>
      (await call('DELETE', ATTEMPT, request)).status;
    expect(await cancel()).toBe(204);
    await put(ATTEMPT);
    const { nonce } = (await call('GET', ATTEMPT)).body;
    const share = { key: keys[2] };
    for (const body of [
      {},
      { nonce },
      share,
      { ...share, nonce: 'other' },
      { nonce, key: FALSE_SHARE },
      { nonce, key: 'no share' },
    ])
      expect([body, await cancel({ body })]).toEqual([body, 400]);
    expect(await cancel({ query: `nonce=${nonce}` })).toBe(400);
    // A share in an address would be logged on its way.
    expect(await cancel({ query: `nonce=${nonce}&key=${keys[2]}` })).toBe(400);
    expect((await call('GET', ATTEMPT)).body.started).toBe(true);
    expect(await cancel({ query: `nonce=${nonce}`, body: share })).toBe(204);
    const again = (await call('PUT', ATTEMPT)).body.nonce;
    expect(await cancel({ body: { ...share, nonce: again } })).toBe(204);
    await put(ATTEMPT);
    expect(await cancel({ token: await createPlainToken() })).toBe(400);
    expect(await cancel({ token: root })).toBe(204);
    await put(ATTEMPT);
    harness.clock.advance(600_000);
    expect(await cancel()).toBe(204);
    expect((await call('GET', ATTEMPT)).body.started).toBe(false);
  });
});

const createPlainToken = async (): Promise<string> => {
  const body = { policies: ['default'] };
  return (await call('POST', 'auth/token/create', { token: root, body })).body.auth.client_token;
};

describe('a caller without a token', () => {
  test('sees the nonces, with which the holders of shares continue an attempt', async () => {
    const generation = (await put('sys/generate-root/attempt')).body.nonce;
    const start = { secret_shares: 1, secret_threshold: 1, require_verification: true };
    const { nonce } = (await put('sys/rekey/init', start)).body;
    await put('sys/rekey/update', { key: keys[0], nonce });
    const { verification_nonce: verification } = (
      await put('sys/rekey/update', { key: keys[1], nonce })
    ).body;
    const seen = async (path: string) => (await call('GET', path)).body;
    expect(await seen('sys/generate-root/attempt')).toMatchObject({ nonce: generation, otp: '' });
    expect(await seen('sys/rekey/init')).toMatchObject({ nonce, verification_nonce: verification });
    expect(await seen('sys/rekey/verify')).toMatchObject({ nonce: verification });
  });

  test('cannot hold an attempt against a holder of a share', async () => {
    await put('sys/rekey/init', { secret_shares: 1, secret_threshold: 1 });
    const { nonce } = (await call('GET', 'sys/rekey/init')).body;
    const cancel = (body: Document) => call('DELETE', 'sys/rekey/init', { body });
    expect((await cancel({ nonce, key: FALSE_SHARE })).status).toBe(400);
    expect((await cancel({ nonce, key: keys[1] })).status).toBe(204);
    expect((await put('sys/rekey/init', { secret_shares: 3, secret_threshold: 2 })).status).toBe(
      200,
    );
  });
});

describe('unsealing', () => {
  test('refuses a share that is not one of the set, and keeps those given before', async () => {
    await call('PUT', 'sys/seal', { token: root });
    await put('sys/unseal', { key: keys[0] });
    expect(await refusal('sys/unseal', { key: FALSE_SHARE })).toEqual([
      400,
      'Unseal failed, invalid key: failed to decrypt keys from storage',
    ]);
    expect((await put('sys/unseal', { key: keys[1] })).body.sealed).toBe(false);
  });
});

/** Makes the store one of a version without fingerprints. */
const forgetFingerprints = () =>
  harness.store.transact(async (tx) => {
    const { fingerprints: _, ...former } = (await sealRecords.find(tx)) ?? never();
    sealRecords.write(tx, former);
    shareSealRecords.delete(tx);
  });
const never = () => {
  throw new Error('not initialized');
};

describe('a store without fingerprints', () => {
  const PATH = 'sys/generate-root';
  const generate = async (shares: readonly (string | undefined)[]): Promise<Document> => {
    const { nonce } = (await put(`${PATH}/attempt`)).body;
    let last: Document;
    for (const key of shares) last = (await put(`${PATH}/update`, { key, nonce })).body;
    return last;
  };

  test('takes its shares, learns them, and then knows a false one', async () => {
    await forgetFingerprints();
    // One false share spoils the attempt once: nobody can know which it was.
    expect((await generate([FALSE_SHARE, keys[0]])).errors[0]).toMatch(/^root generation aborted/);
    const { nonce } = (await call('GET', `${PATH}/attempt`)).body;
    expect(
      (await call('DELETE', `${PATH}/attempt`, { body: { nonce, key: keys[0] } })).body,
    ).toEqual({
      errors: [expect.stringContaining('cannot be verified until a ceremony has succeeded')],
    });
    for (const key of keys.slice(0, 2)) await put(`${PATH}/update`, { key, nonce });
    expect((await call('GET', `${PATH}/attempt`)).body.started).toBe(false);
    // Two of three are known: a false one may still be the third, but costs the known one nothing.
    expect((await generate([keys[0], FALSE_SHARE])).errors[0]).toMatch(/aborted/);
    const { nonce: next } = (await call('GET', `${PATH}/attempt`)).body;
    expect((await call('GET', `${PATH}/attempt`)).body.progress).toBe(1);
    expect((await put(`${PATH}/update`, { key: keys[2], nonce: next })).body.complete).toBe(true);
    expect((await generate([keys[0], FALSE_SHARE])).errors).toEqual([FOREIGN]);
  });

  test('is rekeyed to one that has them', async () => {
    await forgetFingerprints();
    const { nonce } = (await put('sys/rekey/init', { secret_shares: 2, secret_threshold: 2 })).body;
    await put('sys/rekey/update', { key: keys[0], nonce });
    const made = (await put('sys/rekey/update', { key: keys[2], nonce })).body.keys as string[];
    expect((await generate([keys[0]])).errors).toEqual([FOREIGN]);
    await call('DELETE', `${PATH}/attempt`, { token: root });
    expect((await generate(made)).complete).toBe(true);
  });
});

describe('rekey', () => {
  const give = async (
    path: string,
    shares: readonly string[],
    nonce: string,
  ): Promise<Document> => {
    let last: Document;
    for (const key of shares) last = (await put(path, { key, nonce })).body;
    return last;
  };

  test('replaces the shares of the same data', async () => {
    expect(await refusal('sys/rekey/update', { key: keys[0], nonce: 'x' })).toEqual([
      400,
      'no rekey configuration found',
    ]);
    const started = (await put('sys/rekey/init', { secret_shares: 1, secret_threshold: 1 })).body;
    expect(started).toMatchObject({ started: true, t: 1, n: 1, required: 2 });
    const done = await give('sys/rekey/update', keys.slice(0, 2), started.nonce);
    expect(done).toMatchObject({ complete: true });
    await call('PUT', 'sys/seal', { token: root });
    expect((await put('sys/unseal', { key: keys[0] })).status).toBe(400);
    expect((await put('sys/unseal', { key: done.keys[0] })).body.sealed).toBe(false);
    expect((await call('GET', 'auth/token/lookup-self', { token: root })).status).toBe(200);
  });

  test('with verification, the new shares are valid only after they were verified', async () => {
    const { nonce } = (
      await put('sys/rekey/init', {
        secret_shares: 2,
        secret_threshold: 2,
        require_verification: true,
      })
    ).body;
    const made = await give('sys/rekey/update', keys.slice(0, 2), nonce);
    expect(made).toMatchObject({ complete: true, verification_required: true });
    const [first, second] = made.keys as string[];
    const verification = { nonce: made.verification_nonce };
    const restart = (body: Document) => call('DELETE', 'sys/rekey/verify', { body });
    for (const body of [{}, verification, { ...verification, key: keys[0] }])
      expect((await restart(body)).status).toBe(400);
    expect(await refusal('sys/rekey/verify', { ...verification, key: keys[0] })).toEqual([
      400,
      FOREIGN,
    ]);
    const restarted = (await restart({ ...verification, key: second })).body;
    expect(restarted.nonce).not.toBe(made.verification_nonce);
    expect(
      (await put('sys/rekey/verify', { key: first, nonce: restarted.nonce })).body.progress,
    ).toBe(1);
    const verified = (await put('sys/rekey/verify', { key: second, nonce: restarted.nonce })).body;
    expect(verified).toEqual({ nonce: restarted.nonce, complete: true });
    await call('PUT', 'sys/seal', { token: root });
    await give('sys/unseal', [first ?? '', second ?? ''], '');
    expect((await call('GET', 'sys/seal-status')).body.sealed).toBe(false);
  });

  test('a share of the former set counts no more, also in an attempt begun before', async () => {
    const { nonce } = (await put('sys/generate-root/attempt')).body;
    const update = (key: string | undefined) => put('sys/generate-root/update', { key, nonce });
    expect((await update(keys[0])).body.progress).toBe(1);
    const rekeying = (await put('sys/rekey/init', { secret_shares: 4, secret_threshold: 3 })).body;
    const made = await give('sys/rekey/update', keys.slice(0, 2), rekeying.nonce);
    expect((await call('GET', 'sys/generate-root/attempt')).body).toMatchObject({
      progress: 0,
      required: 3,
    });
    expect(await refusal('sys/generate-root/update', { key: keys[1], nonce })).toEqual([
      400,
      FOREIGN,
    ]);
    for (const [at, key] of made.keys.slice(0, 3).entries())
      expect((await update(key)).body).toMatchObject({ progress: at + 1, complete: at === 2 });
  });

  test('refuses impossible parameters', async () => {
    const start = (body: Document) => refusal('sys/rekey/init', body);
    expect(await start({ secret_shares: 2, secret_threshold: 1 })).toEqual([
      400,
      'threshold must be greater than one for multiple shares',
    ]);
    expect(await start({ secret_shares: 1, secret_threshold: 2 })).toEqual([
      400,
      'threshold cannot be larger than shares',
    ]);
    expect(await start({ secret_shares: 1, secret_threshold: 1, backup: true })).toEqual([
      400,
      'cannot request a backup of the new keys without providing PGP keys for encryption',
    ]);
    expect(await start({ secret_shares: 2, secret_threshold: 2, pgp_keys: ['x'] })).toEqual([
      400,
      'incorrect number of PGP keys for rekey',
    ]);
    expect(
      (await put('sys/rekey-recovery-key/init', { secret_shares: 1, secret_threshold: 1 })).status,
    ).toBe(400);
  });

  test('the first root token is encrypted to root_token_pgp_key', async () => {
    const { generateKey, readMessage, readPrivateKey, decrypt } = await import('openpgp');
    const { privateKey, publicKey } = await generateKey({
      userIDs: [{ name: 'holder' }],
      format: 'binary',
    });
    const fresh = await openSysHarness();
    const { body } = await fresh.call('POST', 'sys/init', {
      body: {
        secret_shares: 1,
        secret_threshold: 1,
        root_token_pgp_key: Buffer.from(publicKey).toString('base64'),
      },
    });
    const { data: token } = await decrypt({
      message: await readMessage({ binaryMessage: Buffer.from(body.root_token, 'base64') }),
      decryptionKeys: await readPrivateKey({ binaryKey: privateKey }),
    });
    expect((await fresh.call('GET', 'auth/token/lookup-self', { token: `${token}` })).status).toBe(
      200,
    );
    await fresh.close();
  });

  test('shares and backup are encrypted to the holders’ PGP keys', async () => {
    const { generateKey, readMessage, readPrivateKey, decrypt } = await import('openpgp');
    const { privateKey, publicKey } = await generateKey({
      userIDs: [{ name: 'holder' }],
      format: 'binary',
    });
    const pgpKeys = [Buffer.from(publicKey).toString('base64')];
    const { nonce } = (
      await put('sys/rekey/init', {
        secret_shares: 1,
        secret_threshold: 1,
        pgp_keys: pgpKeys,
        backup: true,
      })
    ).body;
    const done = await give('sys/rekey/update', keys.slice(0, 2), nonce);
    const message = await readMessage({
      binaryMessage: Buffer.from(done.keys_base64[0], 'base64'),
    });
    const decryptionKeys = await readPrivateKey({ binaryKey: privateKey });
    const { data: share } = await decrypt({ message, decryptionKeys });
    const backup = await call('GET', 'sys/rekey/backup', { token: root });
    expect(backup.body.data.keys[done.pgp_fingerprints[0]]).toEqual(done.keys);
    await call('PUT', 'sys/seal', { token: root });
    expect((await put('sys/unseal', { key: share })).body.sealed).toBe(false);
  });
});

describe('the barrier key', () => {
  test('is rotated and sent to services, and old values stay readable', async () => {
    const stop = new AbortController();
    const states = harness.sys.cluster
      .join(
        {
          service: 'pki',
          instanceId: 'i',
          storeId: '',
          version: '1',
          engines: [{ type: 'pki', unauthenticatedPaths: [], rootPaths: [] }],
        },
        { signal: stop.signal },
      )
      [Symbol.asyncIterator]();
    const first = (await states.next()).value;
    expect(first).toMatchObject({ sealed: false, keyringTerm: 1, clusterName: 'test', mounts: [] });
    expect(first.serviceKey).toHaveLength(32);
    expect((await call('PUT', 'sys/rotate', { token: root })).status).toBe(204);
    expect((await call('GET', 'sys/key-status', { token: root })).body.data.term).toBe(2);
    expect((await states.next()).value.keyringTerm).toBe(2);
    expect(
      (await call('POST', 'sys/mounts/ca', { token: root, body: { type: 'pki' } })).status,
    ).toBe(204);
    expect((await states.next()).value.mounts[0]).toMatchObject({ path: 'ca/', type: 'pki' });
    await call('PUT', 'sys/seal', { token: root });
    expect((await states.next()).value).toMatchObject({ sealed: true, mounts: [] });
    stop.abort();
    await states.return?.();
    for (const key of keys.slice(0, 2)) await put('sys/unseal', { key });
    expect((await call('GET', 'auth/token/lookup-self', { token: root })).status).toBe(200);
    const config = 'sys/rotate/config';
    expect((await call('POST', config, { token: root, body: { max_operations: 5 } })).status).toBe(
      400,
    );
    expect((await call('POST', config, { token: root, body: { interval: '48h' } })).status).toBe(
      204,
    );
    expect((await call('GET', config, { token: root })).body.data).toEqual({
      enabled: true,
      max_operations: 3_865_470_566,
      interval: 172_800,
    });
  });
});
