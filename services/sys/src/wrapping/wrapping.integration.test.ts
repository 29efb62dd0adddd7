import { verify } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
});
afterEach(() => harness.close());

const RESPONSE = JSON.stringify({ request_id: 'inner', data: { key: 'value' } });
const INVALID = {
  status: 400,
  body: { errors: ['wrapping token is not valid or does not exist'] },
};

const wrap = (ttlSeconds = 120, namespace = { id: 'root', path: '' }) =>
  harness.sys.access.wrap({
    ttlSeconds,
    response: Buffer.from(RESPONSE),
    creationPath: 'pki/issue/web',
    namespace,
    wrappedAccessor: '',
    wrapFormat: '',
    apiAddress: '',
  });
const unwrap = (token: string) => harness.call('POST', 'sys/wrapping/unwrap', { token });

describe('a wrapped response', () => {
  test('is returned once, unchanged', async () => {
    const { token, accessor, ttlSeconds, creationPath } = await wrap();
    expect([ttlSeconds, creationPath]).toEqual([120, 'pki/issue/web']);
    expect(accessor).not.toBe('');
    expect(await unwrap(token)).toEqual({ status: 200, body: JSON.parse(RESPONSE) });
    expect(await unwrap(token)).toEqual(INVALID);
    // Only the root token is left.
    expect(await harness.store.scan('local/tokens/')).toHaveLength(1);
  });

  test('is returned to one of fifty simultaneous callers', async () => {
    const { token } = await wrap();
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => (await unwrap(token)).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 400)).toHaveLength(49);
  });

  test('can be looked up without being used', async () => {
    const { token } = await wrap();
    for (let count = 0; count < 2; count++)
      expect(
        (await harness.asRoot('POST', 'sys/wrapping/lookup', { body: { token } })).body.data,
      ).toEqual({
        creation_ttl: 120,
        creation_time: '2030-01-01T00:00:00.000Z',
        creation_path: 'pki/issue/web',
      });
    expect((await unwrap(token)).status).toBe(200);
  });

  test('moves to a new token, which keeps lifetime and path', async () => {
    const { token } = await wrap(60);
    const { body } = await harness.asRoot('POST', 'sys/wrapping/rewrap', { body: { token } });
    expect(body.wrap_info).toMatchObject({ ttl: 60, creation_path: 'pki/issue/web' });
    expect(await unwrap(token)).toEqual(INVALID);
    expect((await unwrap(body.wrap_info.token)).body).toEqual(JSON.parse(RESPONSE));
  });

  test('expires', async () => {
    const { token } = await wrap(60);
    harness.clock.advance(60_000);
    expect(await unwrap(token)).toEqual(INVALID);
    expect(await harness.asRoot('POST', 'sys/wrapping/lookup', { body: { token } })).toEqual(
      INVALID,
    );
  });

  test('belongs to the namespace of its request', async () => {
    const id = await harness.createNamespace('team');
    const { token } = await wrap(60, { id, path: 'team/' });
    expect(token.endsWith(`.${id}`)).toBe(true);
    expect((await unwrap(token)).status).toBe(200);
  });

  test('is nowhere readable in the store', async () => {
    const { token } = await wrap();
    expect((await harness.asRoot('GET', 'cubbyhole/response')).status).toBe(404);
    const records = await harness.store.scan('local/');
    for (const { path, value } of records)
      expect(path + Buffer.from(value).toString()).not.toContain(token);
  });
});

test.for(['hvs.unknown', 'hvb.AAAA', 'x'.repeat(20_000), '../../x', 'hvs.a.b/c', 's.é'])(
  'refuses an invalid wrapping token: %#',
  async (token) => {
    expect(await harness.asRoot('POST', 'sys/wrapping/unwrap', { body: { token } })).toEqual(
      INVALID,
    );
  },
);

test('refuses an ordinary token, and a request without a token', async () => {
  expect(await unwrap(await harness.createToken(['root']))).toEqual(INVALID);
  expect(await harness.call('POST', 'sys/wrapping/unwrap')).toEqual({
    status: 400,
    body: { errors: ['missing "token" value in input'] },
  });
});

test('echoes what would be wrapped, and shows one public key', async () => {
  const body = { a: 1, b: { c: 'x' } };
  expect((await harness.asRoot('POST', 'sys/wrapping/wrap', { body })).body).toMatchObject({
    data: body,
    warnings: null,
  });
  const first = (await harness.asRoot('GET', 'sys/wrapping/pubkey')).body.data.public_key;
  expect(first).toContain('BEGIN PUBLIC KEY');
  expect((await harness.asRoot('GET', 'sys/wrapping/pubkey')).body.data.public_key).toBe(first);
});

describe('a JWT wrapping token', () => {
  const jwtOf = async (): Promise<string> =>
    (await harness.asRoot('GET', 'sys/mounts', { wrapTtlSeconds: 120, wrapFormat: 'jwt' })).body
      .wrap_info.token;
  const parse = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString());

  test('describes itself, and verifies with the public key', async () => {
    const jwt = await jwtOf();
    const [header, claims, signature = ''] = jwt.split('.');
    expect(parse(header)).toEqual({ alg: 'ES512', typ: 'JWT' });
    const issued = Date.UTC(2030, 0, 1) / 1000;
    expect(parse(claims)).toEqual({
      jti: expect.stringMatching(/^hvs\.\w{24}$/),
      accessor: expect.stringMatching(/^\w{24}$/),
      type: 'wrapping',
      iat: issued,
      nbf: issued - 5,
      exp: issued + 120,
      addr: 'https://keelson.test',
    });
    const key = (await harness.call('GET', 'sys/wrapping/pubkey')).body.data.public_key;
    const signed = Buffer.from(`${header}.${claims}`);
    const bytes = Buffer.from(signature, 'base64url');
    expect(bytes).toHaveLength(132);
    expect(verify('sha512', signed, { key, dsaEncoding: 'ieee-p1363' }, bytes)).toBe(true);
  });

  test('unwraps once, in the header or in the body, and so does the token inside', async () => {
    for (const send of [
      unwrap,
      (token: string) => harness.call('POST', 'sys/wrapping/unwrap', { body: { token } }),
      (token: string) => unwrap(parse(token.split('.')[1]).jti),
    ]) {
      const jwt = await jwtOf();
      const found = await harness.call('POST', 'sys/wrapping/lookup', { body: { token: jwt } });
      expect(found.body.data).toMatchObject({ creation_ttl: 120, creation_path: 'sys/mounts' });
      expect((await send(jwt)).body.data).toHaveProperty('cubbyhole/');
      expect(await send(jwt)).toEqual(INVALID);
    }
  });

  test('can be moved to an ordinary token', async () => {
    const body = { token: await jwtOf() };
    const moved = await harness.call('POST', 'sys/wrapping/rewrap', { body });
    expect(moved.body.wrap_info.token).toMatch(/^hvs\./);
    expect(await unwrap(body.token)).toEqual(INVALID);
    expect((await unwrap(moved.body.wrap_info.token)).status).toBe(200);
  });

  test('is refused after any change, and after its expiry', async () => {
    const jwt = await jwtOf();
    const [header = '', claims = '', signature = ''] = jwt.split('.');
    const toPart = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const longer = toPart({ ...parse(claims), exp: 4e9 });
    const unsigned = toPart({ alg: 'none', typ: 'JWT' });
    for (const forged of [
      `${header}.${longer}.${signature}`,
      `${unsigned}.${claims}.`,
      `${header}.${claims}.`,
      `${header}.${claims}`,
      `${header}.`,
      `${header}.${claims}.${'A'.repeat(176)}`,
    ])
      expect(await unwrap(forged)).toEqual(INVALID);
    harness.clock.advance(120_000);
    expect(await unwrap(jwt)).toEqual(INVALID);
  });

  test('cannot be created from data of the caller', async () => {
    for (const path of ['sys/wrapping/wrap', 'sys/wrapping//wrap/', 'sys/wrapping/%77rap'])
      expect(
        (await harness.asRoot('POST', path, { wrapTtlSeconds: 60, wrapFormat: 'jwt', body: {} }))
          .body,
      ).toEqual({ errors: ['JWT wrapping tokens are not made of given data'] });
  });
});
