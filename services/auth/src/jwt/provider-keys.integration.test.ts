/** The method jwt with the keys of a provider: how they are found, kept and renewed, and a provider that fails. */
import { readFile } from 'node:fs/promises';
import { temporaryDirectory, writeCertificates } from '@keelson/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type IdentityProvider,
  makeKey,
  type SigningKey,
  signToken,
  startProvider,
  toJwk,
} from '../../test/identity-provider.ts';
import { mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';

let auth: OpenAuth;
let provider: IdentityProvider;
beforeAll(async () => {
  auth = await openAuth({ outboundRanges: ['127.0.0.0/8'] });
});
afterAll(() => auth.close());

const key = makeKey('one');
const next = makeKey('two');
const SOUND = { role_type: 'jwt', user_claim: 'sub', bound_audiences: 'keelson' };
const MINUTE_MS = 60_000;

let serial = 0;
let call: (method: string, path: string, body?: unknown) => ReturnType<OpenAuth['call']>;

beforeEach(async () => {
  provider = await startProvider();
  provider.keys = [key];
  serial += 1;
  const mount = mountOf('jwt', `8f0b1c1e-0000-4000-8000-${String(serial).padStart(12, '0')}`);
  call = (method, path, body) => auth.call('jwt', method, path, body, { mount });
  await call('POST', 'role/ci', SOUND);
});
afterEach(() => provider.stop());

const tokenOf = (signing: SigningKey, claims: object = {}, head: object = {}): Promise<string> => {
  const exp = auth.clock.nowMs() / 1000 + 300;
  const all = { iss: provider.url, sub: 'app', aud: 'keelson', exp, nbf: exp - 600, ...claims };
  return signToken(signing, all, { ...head });
};
const logInWith = async (signing: SigningKey, claims: object = {}, head: object = {}) => {
  const jwt = await tokenOf(signing, claims, head);
  const { status, json } = await call('POST', 'login', { role: 'ci', jwt });
  return status === 200 ? 200 : json.errors;
};
const useKeySet = async (): Promise<void> => {
  const { status } = await call('POST', 'config', { jwks_url: `${provider.url}/keys` });
  expect(status).toBe(200);
  provider.asked.length = 0;
};

const disposableProvider = async (...tls: Parameters<typeof startProvider>) => {
  const started = await startProvider(...tls);
  return Object.assign(started, { [Symbol.asyncDispose]: started.stop });
};

const UNKNOWN = ['error validating token: no known key successfully validated the token signature'];
const AWAY = ['error validating token: the keys of the provider cannot be fetched at the moment'];

describe('the keys of a provider', () => {
  test('are found at the address of the key set', async () => {
    await useKeySet();
    expect(await logInWith(key)).toBe(200);
    expect(await logInWith(key, { iss: 'https://anybody.example' })).toBe(200);
    expect(await logInWith(key, {}, { kid: undefined })).toBe(200);
    expect(await logInWith(key, {}, { kid: 'another' })).toEqual(UNKNOWN);
    expect(await logInWith(next)).toEqual(UNKNOWN);
  });

  test('are found by discovery, and are those of its issuer alone unless another one is bound', async () => {
    const config = { oidc_discovery_url: provider.url };
    const { status, json } = await call('POST', 'config', config);
    expect([status, json.warnings]).toEqual([200, [expect.stringContaining('without TLS')]]);
    expect(provider.asked).toEqual(['/.well-known/openid-configuration', '/keys']);
    expect(await logInWith(key)).toBe(200);
    const iss = 'https://customer.example';
    expect(await logInWith(key, { iss })).toEqual([
      'error validating token: invalid issuer (iss) claim',
    ]);
    await call('POST', 'config', { ...config, bound_issuer: iss });
    expect(await logInWith(key, { iss })).toBe(200);
  });

  test('of several sets are all in use, whichever of them can be fetched', async () => {
    await using second = await disposableProvider();
    second.keys = [next];
    const pairs = [provider, second].map(({ url }) => ({ jwks_url: `${url}/keys` }));
    expect((await call('POST', 'config', { jwks_pairs: pairs })).status).toBe(200);
    for (const signing of [key, next]) expect(await logInWith(signing)).toBe(200);
    provider.answer = (_, response) => response.writeHead(500).end();
    auth.clock.advance(25 * 60 * MINUTE_MS);
    expect(await logInWith(next)).toBe(200);
    expect(await logInWith(key)).toEqual(AWAY);
  });

  test('are fetched from a server whose certificate chains to the authority that the mount names', async () => {
    await using folder = await temporaryDirectory();
    const files = await writeCertificates(folder.path);
    const [ca, cert, tlsKey] = await Promise.all(
      [files.authorityFile, files.certificateFile, files.keyFile].map((file) =>
        readFile(file, 'utf8'),
      ),
    );
    await using secure = await disposableProvider({ cert: cert ?? '', key: tlsKey ?? '' });
    secure.keys = [key];
    const url = { jwks_url: `${secure.url}/keys` };
    const refused = await call('POST', 'config', url);
    expect(refused.json.errors).toEqual([
      expect.stringMatching(/^error checking jwks URL: .*VERIFY/),
    ]);
    expect((await call('POST', 'config', { ...url, jwks_ca_pem: ca })).status).toBe(204);
    expect(await logInWith(key)).toBe(200);
    const discovery = { oidc_discovery_url: secure.url, oidc_discovery_ca_pem: ca };
    expect((await call('POST', 'config', discovery)).status).toBe(204);
    expect(await logInWith(key, { iss: secure.url })).toBe(200);
  });

  test('are not those of another mount', async () => {
    await useKeySet();
    const elsewhere = mountOf('jwt', '8f0b1c1e-2222-4000-8000-000000000001');
    provider.keys = [next];
    const there = (path: string, body: object) =>
      auth.call('jwt', 'POST', path, body, { mount: elsewhere });
    await there('config', { jwks_url: `${provider.url}/keys` });
    await there('role/ci', SOUND);
    expect(await logInWith(key)).toBe(200);
    const jwt = await tokenOf(key);
    expect((await there('login', { role: 'ci', jwt })).json.errors).toEqual(UNKNOWN);
  });

  test('that are for something else than signatures are passed over', async () => {
    provider.answer = (_, response) => {
      const keys = [
        { ...toJwk(key), use: 'enc' },
        { kty: 'oct', kid: 'one', k: 'AAAA' },
        { kty: 'RSA', kid: 'one', n: 'x', e: 'AQAB' },
        null,
        'text',
      ];
      response.end(JSON.stringify({ keys }));
    };
    await useKeySet();
    expect(await logInWith(key)).toEqual(UNKNOWN);
  });

  test('are for the algorithm that the provider says', async () => {
    const rsa = { ...makeKey('rsa', 'RS256') };
    provider.keys = [rsa];
    await useKeySet();
    expect(await logInWith(rsa)).toBe(200);
    expect(await logInWith({ ...rsa, alg: 'RS512' })).toEqual(UNKNOWN);
  });

  test('are fetched once in five minutes, by one request for all who wait', async () => {
    await useKeySet();
    auth.clock.advance(4 * MINUTE_MS);
    expect(await logInWith(key)).toBe(200);
    expect(provider.asked).toEqual([]);
    auth.clock.advance(MINUTE_MS);
    expect(await Promise.all(Array.from({ length: 20 }, () => logInWith(key)))).toEqual(
      Array(20).fill(200),
    );
    expect(provider.asked).toEqual(['/keys']);
  });

  test('that are new are fetched when the first token names one, every ten seconds at most', async () => {
    await useKeySet();
    auth.clock.advance(10_000);
    provider.keys = [key, next];
    expect(await logInWith(next)).toBe(200);
    expect(provider.asked).toHaveLength(1);
    for (let index = 0; index < 5; index += 1)
      expect(await logInWith(next, {}, { kid: `invented-${index}` })).toEqual(UNKNOWN);
    expect(provider.asked).toHaveLength(1);
    auth.clock.advance(10_000);
    await logInWith(next, {}, { kid: 'invented' });
    expect(provider.asked).toHaveLength(2);
  });

  test('that the provider withdraws are refused after five minutes, or when the configuration is written', async () => {
    await useKeySet();
    provider.keys = [next];
    expect(await logInWith(key)).toBe(200);
    auth.clock.advance(5 * MINUTE_MS);
    expect(await logInWith(key)).toEqual(UNKNOWN);
    await useKeySet();
    provider.keys = [];
    await useKeySet();
    expect(await logInWith(next)).toEqual(UNKNOWN);
  });
});

describe('a provider that is away', () => {
  test('leaves logins as they are for a day', async () => {
    await useKeySet();
    provider.answer = (_, response) => response.writeHead(503).end();
    auth.clock.advance(24 * 60 * MINUTE_MS - 1);
    expect(await logInWith(key)).toBe(200);
    auth.clock.advance(1);
    expect(await logInWith(key)).toEqual(AWAY);
    provider.answer = undefined;
    expect(await logInWith(key)).toEqual(AWAY);
    auth.clock.advance(10_000);
    expect(await logInWith(key)).toBe(200);
  });

  test('delays one login, and those with keys that nobody knows, when it does not answer', async () => {
    await useKeySet();
    provider.answer = () => undefined;
    auth.clock.advance(5 * MINUTE_MS);
    expect(await logInWith(key)).toBe(200);
    auth.clock.advance(10_000);
    const slow = logInWith(next);
    const before = performance.now();
    for (let index = 0; index < 20; index += 1) expect(await logInWith(key)).toBe(200);
    expect(performance.now() - before).toBeLessThan(2000);
    expect(await slow).toEqual(UNKNOWN);
    expect(provider.asked).toHaveLength(2);
  });
});

describe('a configuration is refused', () => {
  const refusal = async (config: object): Promise<string> => {
    const { status, json } = await call('POST', 'config', config);
    expect(status).toBe(400);
    expect((await call('GET', 'config')).status).toBe(404);
    return json.errors[0].replaceAll(new URL(provider.url).host, 'HOST');
  };
  const keySet = () => ({ jwks_url: `${provider.url}/keys` });

  test.for<[string, IdentityProvider['answer'], string]>([
    [
      'redirects',
      (_, response) => response.writeHead(302, { location: '/keys2' }).end(),
      'HOST answered with 302',
    ],
    ['refuses', (_, response) => response.writeHead(404).end(), 'HOST answered with 404'],
    [
      'closes the connection',
      (request) => request.socket.destroy(),
      'HOST cannot be reached: UND_ERR_SOCKET',
    ],
    [
      'answers with text',
      (_, response) => response.end('<html>'),
      'HOST answered with something that is not a JSON document',
    ],
    [
      'answers without keys',
      (_, response) => response.end('{}'),
      'the answer is no JSON Web Key Set',
    ],
    [
      'answers with 1 MiB',
      (_, response) => response.end(JSON.stringify({ keys: [], x: 'x'.repeat(1024 * 1024) })),
      'HOST answered with more than 262144 bytes',
    ],
    [
      'answers with 10,000 keys',
      (_, response) => response.end(JSON.stringify({ keys: Array(10_000).fill(null) })),
      'HOST answered with something that is not a JSON document',
    ],
    [
      'answers with 101 keys',
      (_, response) => response.end(JSON.stringify({ keys: Array(101).fill(toJwk(key)) })),
      'the key set has more than 100 keys',
    ],
  ])('whose provider %s', async ([, answer, text]) => {
    provider.answer = answer;
    expect(await refusal(keySet())).toBe(`error checking jwks URL: ${text}`);
    expect(provider.asked).toHaveLength(1);
  });

  test('whose provider begins an answer and never ends it', async () => {
    provider.answer = (_, response) => void response.writeHead(200).write('{"keys":[');
    expect(await refusal(keySet())).toMatch(/^error checking jwks URL: HOST cannot be reached: /);
  });

  test('whose provider is another issuer, or has no keys', async () => {
    const text = 'error checking oidc discovery URL: ';
    expect(await refusal({ oidc_discovery_url: `${provider.url}/` })).toMatch(
      `${text}the issuer of the provider is another one`,
    );
    provider.answer = (_, response) => response.end(JSON.stringify({ issuer: provider.url }));
    expect(await refusal({ oidc_discovery_url: provider.url })).toBe(
      `${text}the discovery document has no jwks_uri`,
    );
  });

  test('whose provider is in a network that the operator has not permitted', async () => {
    const strict = await openAuth();
    try {
      const config = { jwks_url: `${provider.url}/keys` };
      const { json } = await strict.call('jwt', 'POST', 'config', config);
      expect(json.errors).toEqual([
        expect.stringMatching(/the address policy permits no address of 127\.0\.0\.1$/),
      ]);
      expect(provider.asked).toEqual([]);
    } finally {
      await strict.close();
    }
  });
});
