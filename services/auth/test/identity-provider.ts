/** A provider of identities as a test wants it: its keys, what it signs, and how it answers. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
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
    stop: async (): Promise<void> => undefined,
  };
  const listener: RequestListener = (request, response) => {
    asked.push(request.url ?? '');
    if (provider.answer !== undefined) {
      provider.answer(request, response);
      return;
    }
    const document =
      request.url === '/keys'
        ? { keys: provider.keys.map(toJwk) }
        : { issuer: provider.url, jwks_uri: `${provider.url}/keys` };
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
