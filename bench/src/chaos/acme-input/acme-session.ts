/** An ACME client inside the process, and the web server that proves its names. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { createCsr, createSigner, encodeName, subjectAltName } from '@keelson/x509';
import type { InProcessAuthority } from '../../in-process-authority.ts';

export const CLUSTER_PATH = 'https://acme.test/v1/pki';
export const JOSE = 'application/jose+json';

export type Members = Readonly<Record<string, unknown>>;

const toText = (value: string | Uint8Array): string => Buffer.from(value).toString('base64url');

export interface Signing {
  readonly privateKey: KeyObject;
  readonly jwk: Members;
}

export const newKey = (): Signing => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, jwk: publicKey.export({ format: 'jwk' }) as Members };
};

/** A flattened JWS with a valid signature over any content. */
export const signText = ({ privateKey }: Signing, header: string, payload: string): Members => {
  const [protectedText, payloadText] = [toText(header), toText(payload)];
  const signature = sign('sha256', Buffer.from(`${protectedText}.${payloadText}`), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  return { protected: protectedText, payload: payloadText, signature: toText(signature) };
};

/** Answers http-01 for every token, in the name of one key. */
export const openProofServer = async ({ jwk }: Signing) => {
  const canonical = JSON.stringify({ crv: jwk['crv'], kty: jwk['kty'], x: jwk['x'], y: jwk['y'] });
  const thumbprint = createHash('sha256').update(canonical).digest('base64url');
  const server = createServer((request, response) =>
    response.end(`${request.url?.split('/').at(-1) ?? ''}.${thumbprint}`),
  );
  server.listen(0);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

export class AcmeSession {
  readonly authority: InProcessAuthority;
  readonly key: Signing;
  account = '';
  /** Nonce of the latest response that carried one. */
  nonce = '';

  constructor(authority: InProcessAuthority, key: Signing) {
    this.authority = authority;
    this.key = key;
  }

  header(path: string): Members {
    const signer = this.account === '' ? { jwk: this.key.jwk } : { kid: this.account };
    return { alg: 'ES256', ...signer, nonce: this.nonce, url: `${CLUSTER_PATH}/${path}` };
  }

  async send(method: string, path: string, body: Uint8Array, contentType = JOSE) {
    const answer = await this.authority.send(method, path, body, undefined, contentType);
    this.nonce = answer.headers.get('replay-nonce') ?? this.nonce;
    return answer;
  }

  /** A request that must succeed. @param payload undefined for a read (POST-as-GET) */
  async post(path: string, payload?: unknown) {
    const text = payload === undefined ? '' : JSON.stringify(payload);
    const jws = signText(this.key, JSON.stringify(this.header(path)), text);
    const answer = await this.send('POST', path, Buffer.from(JSON.stringify(jws)));
    const shown = Buffer.from(answer.body).toString();
    if (answer.status >= 300) throw new Error(`${path}: ${shown}`);
    const json = shown.startsWith('{') ? (JSON.parse(shown) as Record<string, string>) : {};
    return { json, location: answer.headers.get('location') ?? '' };
  }

  async begin(): Promise<void> {
    await this.send('HEAD', 'acme/new-nonce', new Uint8Array(0));
    this.account = (await this.post('acme/new-account', {})).location;
  }

  /** Path of an order that waits for its CSR, and of one of its authorizations. */
  async readyOrder(): Promise<{ readonly order: string; readonly authorization: string }> {
    const below = (url: string | undefined): string => url?.slice(CLUSTER_PATH.length + 1) ?? '';
    const identifiers = [{ type: 'dns', value: 'localhost' }];
    const { json, location } = await this.post('acme/new-order', { identifiers });
    const authorization = below((json['authorizations'] as unknown as string[])[0]);
    const challenge = authorization.replace('/authorization/', '/challenge/');
    await this.post(`${challenge}/http-01`, {});
    const order = below(location);
    while ((await this.post(order)).json['status'] !== 'ready') await setImmediate();
    return { order, authorization };
  }
}

export const makeCsr = async (): Promise<Uint8Array> => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return createCsr(
    {
      subject: encodeName([]),
      publicKeyDer: publicKey.export({ type: 'spki', format: 'der' }),
      extensions: [subjectAltName([{ kind: 'dns', value: 'localhost' }], true)],
    },
    createSigner(privateKey, 'ecdsa-sha256'),
  );
};
