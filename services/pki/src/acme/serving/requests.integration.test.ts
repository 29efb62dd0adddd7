/** Rules for every request (RFC 8555 §6), and headers of every answer. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ACCOUNT_ALGORITHMS,
  AcmeClient,
  CLUSTER_PATH,
  newAccountKey,
  signJws,
} from '../../../test/acme-client.ts';
import { type OpenAcme, openAcme } from '../../../test/open-acme.ts';

let acme: OpenAcme;
let client: AcmeClient;
beforeAll(async () => {
  acme = await openAcme();
  client = acme.client();
  await client.register();
}, 60_000);
afterAll(() => acme.close());

const URN = 'urn:ietf:params:acme:error:';
const DIRECTORY = `${CLUSTER_PATH}/acme/directory`;

const refusal = (answer: Awaited<ReturnType<AcmeClient['post']>>) => {
  expect(answer.header('content-type')).toBe('application/problem+json');
  expect(answer.header('replay-nonce')).toMatch(/^[\w-]+$/);
  expect(answer.links('index')).toEqual([DIRECTORY]);
  expect(answer.json.status).toBe(answer.status);
  expect(answer.json).not.toHaveProperty('identifier');
  return [answer.status, answer.json.type.replace(URN, '')];
};

describe('open resources', () => {
  test('the directory names its resources (§7.1.1)', async () => {
    const { status, json, ...answer } = await client.get('directory');
    expect(status).toBe(200);
    expect(answer.header('content-type')).toBe('application/json');
    expect(json).toEqual({
      newNonce: `${CLUSTER_PATH}/acme/new-nonce`,
      newAccount: `${CLUSTER_PATH}/acme/new-account`,
      newOrder: `${CLUSTER_PATH}/acme/new-order`,
      revokeCert: `${CLUSTER_PATH}/acme/revoke-cert`,
      keyChange: `${CLUSTER_PATH}/acme/key-change`,
      renewalInfo: `${CLUSTER_PATH}/acme/renewal-info`,
      meta: { externalAccountRequired: false },
    });
  });

  test.for([
    ['HEAD', 200],
    ['GET', 204],
  ] as const)(
    '%s of new-nonce answers %i with an uncached nonce (§7.2)',
    async ([method, status]) => {
      const first = await client.get('new-nonce', method);
      const second = await client.get('new-nonce', method);
      expect([first.status, first.bytes.byteLength]).toEqual([status, 0]);
      expect(first.header('cache-control')).toBe('no-store');
      expect(first.links('index')).toEqual([DIRECTORY]);
      expect(first.header('replay-nonce')).not.toBe(second.header('replay-nonce'));
    },
  );

  test('the directory and new-nonce can be read by POST-as-GET too (§6.3)', async () => {
    const directory = await client.post('directory');
    expect(directory.json).toEqual((await client.get('directory')).json);
    expect(directory.header('replay-nonce')).toMatch(/^[\w-]+$/);
    const { status, bytes, ...answer } = await client.post('new-nonce');
    expect([status, bytes.byteLength]).toEqual([204, 0]);
    expect(answer.header('cache-control')).toBe('no-store');
    const nonce = answer.header('replay-nonce') ?? '';
    expect((await client.post('orders', undefined, { nonce })).status).toBe(200);
    for (const resource of ['directory', 'new-nonce']) {
      expect(refusal(await client.post(resource, {}))).toEqual([400, 'malformed']);
      expect(refusal(await acme.client().post(resource))).toEqual([400, 'malformed']);
    }
  });

  test('other resources cannot be read by GET (§6.3)', async () => {
    for (const resource of ['new-account', 'new-order', 'orders', 'order/1', 'revoke-cert'])
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await client.get(resource, method);
        expect([answer.status, answer.header('allow')]).toEqual([405, 'POST']);
        expect(answer.header('replay-nonce')).toMatch(/^[\w-]+$/);
        expect(refusal(answer)).toEqual([405, 'malformed']);
      }
  });
});

describe('signatures (§6.2)', () => {
  test.for(ACCOUNT_ALGORITHMS)('%s is accepted for accounts', async (alg) => {
    const other = new AcmeClient(acme.pki, 'acme/', newAccountKey(alg));
    expect((await other.register()).status).toBe(201);
    expect((await other.post(other.account)).status).toBe(200);
  });

  test('other content types are refused', async () => {
    const jws = { protected: '', payload: '', signature: '' };
    for (const type of ['application/json', 'application/jose', ''])
      expect(refusal(await client.send('new-order', jws, type))).toEqual([415, 'malformed']);
    const answer = await client.send('new-order', jws, 'application/jose+json; charset=utf-8');
    expect(refusal(answer)).toEqual([400, 'malformed']);
  });

  test.for([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['nothing', ''],
    ['compact form', '"eyJ.e30.AA"'],
    ['too deep', `{"a":${'['.repeat(30)}${']'.repeat(30)}}`],
  ] as const)('%s is malformed', async ([, text]) => {
    expect(refusal(await client.send('new-order', Buffer.from(text)))).toEqual([400, 'malformed']);
  });

  test('members that the flattened form does not have are refused', async () => {
    const header = { kid: client.account, url: client.url('orders'), nonce: await client.nonce() };
    const jws = signJws(client.key, header, undefined);
    const bad = [
      { ...jws, header: {} },
      { ...jws, signatures: [] },
      { payload: jws['payload'], signature: jws['signature'] },
      // §6.2: not detached.
      { protected: jws['protected'], signature: jws['signature'] },
      { ...jws, payload: `${String(jws['payload'])}=` },
      { ...jws, signature: '+/' },
    ];
    for (const one of bad)
      expect(refusal(await client.send('orders', one))).toEqual([400, 'malformed']);
    // None of them used the nonce up.
    expect((await client.send('orders', jws)).status).toBe(200);
  });

  test.for([
    [{ alg: 'none' }, 400, 'badSignatureAlgorithm'],
    [{ alg: 'HS256' }, 400, 'badSignatureAlgorithm'],
    [{ alg: 'ES384' }, 400, 'badSignatureAlgorithm'],
    [{ alg: undefined }, 400, 'badSignatureAlgorithm'],
    [{ url: undefined }, 400, 'malformed'],
    [{ url: 5 }, 400, 'malformed'],
    [{ url: `${CLUSTER_PATH}/acme/new-order` }, 403, 'unauthorized'],
    [{ url: 'https://elsewhere.test/v1/pki/acme/orders' }, 403, 'unauthorized'],
    [{ nonce: undefined }, 400, 'badNonce'],
    [{ nonce: 'bm9uZQ' }, 400, 'badNonce'],
    [{ nonce: '=!' }, 400, 'malformed'],
    [{ kid: undefined }, 400, 'malformed'],
    [{ kid: 'https://elsewhere.test/account/1' }, 400, 'accountDoesNotExist'],
    [{ kid: `${CLUSTER_PATH}/acme/account/none` }, 400, 'accountDoesNotExist'],
    [{ jwk: {} }, 400, 'malformed'],
    [{ crit: ['exp'] }, 400, 'malformed'],
    [{ b64: false }, 400, 'malformed'],
  ] as const)('the header %o is refused', async ([change, status, type]) => {
    const url = client.url('orders');
    const header = { kid: client.account, url, nonce: await client.nonce(), ...change };
    const answer = await client.send('orders', signJws(client.key, header, undefined));
    expect(refusal(answer)).toEqual([status, type]);
    const isAboutAlgorithm = type === 'badSignatureAlgorithm';
    expect(answer.json.algorithms?.includes('ES256') ?? false).toBe(isAboutAlgorithm);
  });

  test('a signature by another key, or of other content, does not verify', async () => {
    const header = { kid: client.account, url: client.url('orders') };
    const withNonce = async () => ({ ...header, nonce: await client.nonce() });
    const foreign = signJws(newAccountKey(), await withNonce(), undefined);
    expect(refusal(await client.send('orders', foreign))).toEqual([400, 'malformed']);
    const own = signJws(client.key, await withNonce(), undefined);
    const changed = { ...own, payload: 'e30' };
    expect(refusal(await client.send('orders', changed))).toEqual([400, 'malformed']);
  });

  test('a key instead of an account is accepted only by new-account and revoke-cert', async () => {
    const stranger = acme.client();
    for (const resource of ['new-order', 'orders', 'key-change', 'order/x', 'authorization/x'])
      expect(refusal(await stranger.post(resource, {}))).toEqual([400, 'malformed']);
    expect(refusal(await client.post('new-account', {}))).toEqual([400, 'malformed']);
  });

  test.for([
    [{ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }],
    [{ kty: 'EC', crv: 'secp256k1', x: 'AA', y: 'AA' }],
    [{ kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) }],
    [{ kty: 'RSA', n: 'A'.repeat(171), e: 'AQAB' }],
    [{ kty: 'RSA', n: `_${'A'.repeat(341)}`, e: 'Ag' }],
    [{ kty: 'oct', k: 'AAAA' }],
    [{ kty: 'OKP', crv: 'Ed25519', x: 'AA' }],
    ['text'],
  ] as const)('the key %o is refused', async ([jwk]) => {
    const stranger = acme.client();
    const answer = await stranger.post('new-account', {}, { jwk });
    expect(refusal(answer)).toEqual([400, 'badPublicKey']);
  });
});

describe('nonces (§6.5)', () => {
  test('are accepted once, whatever the response was', async () => {
    const nonce = await client.nonce();
    expect((await client.post('order/none', undefined, { nonce })).status).toBe(404);
    expect(refusal(await client.post('orders', undefined, { nonce }))).toEqual([400, 'badNonce']);
  });

  test('are part of every response, and the nonce of an error is valid', async () => {
    const refused = await client.post('orders', undefined, { nonce: 'AAAA' });
    const nonce = refused.header('replay-nonce') ?? '';
    const answer = await client.post('orders', undefined, { nonce });
    expect(answer.status).toBe(200);
    expect(answer.header('replay-nonce')).not.toBe(nonce);
  });

  test('are all different, and too long to be guessed', async () => {
    const nonces = await Promise.all(Array.from({ length: 200 }, () => client.nonce()));
    expect(new Set(nonces).size).toBe(200);
    for (const nonce of nonces)
      expect(Buffer.from(nonce, 'base64url').byteLength).toBeGreaterThanOrEqual(16);
  });

  test('used by two requests at once are accepted for one', async () => {
    const nonce = await client.nonce();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => client.post('orders', undefined, { nonce })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array(7).fill(400),
    ]);
  });
});

describe('reads (§6.3)', () => {
  test('have an empty payload', async () => {
    for (const resource of ['orders', `${client.account}/orders`])
      expect(refusal(await client.post(resource, {}))).toEqual([400, 'malformed']);
  });

  test('of absent resources are 404', async () => {
    const id = '0'.repeat(32);
    for (const resource of [
      `order/${id}`,
      `order/${id}/cert`,
      `authorization/${id}-0`,
      'authorization/x',
      `challenge/${id}-0/http-01`,
    ])
      expect(refusal(await client.post(resource))).toEqual([404, 'malformed']);
  });

  test('authorizations are created only with their orders (§7.4.1)', async () => {
    expect((await client.get('directory')).json).not.toHaveProperty('newAuthz');
    const identifier = { type: 'dns', value: 'localhost' };
    expect(refusal(await client.post('new-authz', { identifier }))).toEqual([404, 'malformed']);
  });
});
