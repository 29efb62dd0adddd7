/** A provider of identities as a test wants it: its keys, what it signs, and how it answers. */
import { createHash, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SignJWT } from 'jose';

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** PEM. */
  readonly publicPem: string;
}

const PAIRS = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS512: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
} as const;

export const makeKey = (kid: string, alg: keyof typeof PAIRS = 'ES256'): SigningKey => {
  const { privateKey, publicKey } = PAIRS[alg]();
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  return { kid, alg, privateKey, publicKey, publicPem };
};

/** A key as an element of a JSON Web Key Set. */
export const toJwk = ({ kid, alg, publicKey }: SigningKey): object => ({
  ...publicKey.export({ format: 'jwk' }),
  kid,
  alg,
  use: 'sig',
});

/** @param head replaces members of the protected header */
export const signToken = (
  { kid, alg, privateKey }: SigningKey,
  claims: Readonly<Record<string, unknown>>,
  head: Readonly<Record<string, unknown>> = {},
): Promise<string> =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg, kid, ...head }).sign(privateKey);

/** A token of which every byte is chosen, with a signature that fits. */
export const signBytes = async (
  key: SigningKey,
  head: string,
  payload: string,
): Promise<string> => {
  const { sign } = await import('node:crypto');
  const [first, second] = [head, payload].map((text) => Buffer.from(text).toString('base64url'));
  const data = Buffer.from(`${first}.${second}`);
  const signature = sign('sha256', data, { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${first}.${second}.${signature.toString('base64url')}`;
};

/** The client that the provider knows. */
export const CLIENT = { oidc_client_id: 'keelson', oidc_client_secret: 's3cret:%' } as const;

/** The login of a device at the provider, whose user permits or refuses it. */
interface Device {
  state: 'pending' | 'slow_down' | 'permitted' | 'access_denied';
}

interface Authorization {
  readonly request: URLSearchParams;
  readonly claims: object;
}

/** Answers a device as RFC 8628 §3.5 says. */
const redeemDevice = async (provider: IdentityProvider, code: string): Promise<object> => {
  const device = provider.devices.get(code);
  const [key] = provider.keys;
  if (device?.state !== 'permitted' || key === undefined)
    return {
      error:
        device === undefined
          ? 'expired_token'
          : device.state === 'pending'
            ? 'authorization_pending'
            : device.state,
    };
  provider.devices.delete(code);
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: provider.url, sub: 'u-1', aud: CLIENT.oidc_client_id };
  const token = await signToken(key, { ...claims, iat: now, exp: now + 300 });
  return { access_token: 'access', token_type: 'bearer', id_token: token };
};

/** Redeems codes as RFC 6749 §4.1.3 and RFC 7636 demand; a code is good once. */
const redeem = async (
  provider: IdentityProvider,
  form: URLSearchParams,
  credentials: string,
): Promise<object | undefined> => {
  if (form.has('device_code')) return redeemDevice(provider, form.get('device_code') ?? '');
  const code = form.get('code') ?? '';
  const authorization = provider.authorizations.get(code);
  provider.authorizations.delete(code);
  const [key] = provider.keys;
  const { oidc_client_id: id, oidc_client_secret: secret } = CLIENT;
  const expected = Buffer.from(`${id}:${encodeURIComponent(secret)}`).toString('base64');
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url');
  const request = authorization?.request;
  if (
    key === undefined ||
    credentials !== `Basic ${expected}` ||
    request?.get('code_challenge') !== challenge ||
    request.get('redirect_uri') !== form.get('redirect_uri')
  )
    return undefined;
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: provider.url, sub: 'u-1', aud: id, nonce: request.get('nonce') };
  const all = { ...claims, iat: now, exp: now + 300, ...authorization?.claims };
  return { access_token: 'access', token_type: 'bearer', id_token: await signToken(key, all) };
};

/** A web server that answers as a test says, and counts the requests. */
export const startProvider = async (tls?: { readonly key: string; readonly cert: string }) => {
  const asked: string[] = [];
  const provider = {
    url: '',
    /** The paths of all requests. */
    asked,
    keys: [] as readonly SigningKey[],
    /** In place of the answer with the keys. */
    answer: undefined as RequestListener | undefined,
    /** By code. */
    authorizations: new Map<string, Authorization>(),
    /** By code. */
    devices: new Map<string, Device>(),
    /** Members of its answers to devices that begin. */
    deviceAnswer: {} as object,
    /** The user signs in at the address where the browser was sent. @returns what the browser brings back */
    consent: (address: string, claims: object = {}) => {
      const request = new URL(address).searchParams;
      const code = randomUUID();
      provider.authorizations.set(code, { request, claims });
      return new URLSearchParams({ code, state: request.get('state') ?? '' });
    },
    hasDevices: true,
    /** Whether it says that its answers always name it (RFC 9207). */
    namesItself: false,
    stop: async (): Promise<void> => undefined,
  };
  const listener: RequestListener = (request, response) => {
    asked.push(request.url ?? '');
    if (provider.answer !== undefined) {
      provider.answer(request, response);
      return;
    }
    if (request.url === '/token') {
      void text(request)
        .then((body) =>
          redeem(provider, new URLSearchParams(body), request.headers.authorization ?? ''),
        )
        .then((tokens) =>
          response
            .writeHead(tokens === undefined || 'error' in tokens ? 400 : 200, {
              'content-type': 'application/json',
            })
            .end(JSON.stringify(tokens ?? { error: 'invalid_grant' })),
        );
      return;
    }
    if (request.url === '/device') {
      const code = randomUUID();
      provider.devices.set(code, { state: 'pending' });
      const document = {
        device_code: code,
        user_code: 'WDJB-MJHT',
        verification_uri: `${provider.url}/activate`,
        expires_in: 600,
        ...provider.deviceAnswer,
      };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
      return;
    }
    if (request.url === '/userinfo') {
      const info = { sub: 'u-1', email: 'ann@example.com', iss: 'https://other.example' };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(info));
      return;
    }
    const document =
      request.url === '/keys'
        ? { keys: provider.keys.map(toJwk) }
        : {
            issuer: provider.url,
            jwks_uri: `${provider.url}/keys`,
            authorization_endpoint: `${provider.url}/authorize`,
            token_endpoint: `${provider.url}/token`,
            ...(provider.hasDevices && {
              device_authorization_endpoint: `${provider.url}/device`,
            }),
            ...(provider.namesItself && { authorization_response_iss_parameter_supported: true }),
            userinfo_endpoint: `${provider.url}/userinfo`,
            id_token_signing_alg_values_supported: ['ES256'],
          };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  };
  const server: Server =
    tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  provider.url = `http${tls === undefined ? '' : 's'}://127.0.0.1:${port}`;
  provider.stop = () =>
    new Promise((stopped) => {
      server.close(() => stopped());
      server.closeAllConnections();
    });
  return provider;
};

export type IdentityProvider = Awaited<ReturnType<typeof startProvider>>;
