/** An ACME client for tests: signs requests, correctly or not, and sends them to the service. */
import {
  createHash,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { bufferedBody } from '@keelson/edge';
import { Dialect, type Mount } from '@keelson/proto/edge/v1/edge';
import {
  chooseSignatureScheme,
  createCsr,
  createSigner,
  describeKey,
  type Extension,
  encodeName,
  subjectAltName,
} from '@keelson/x509';
import { type OpenPki, ROOT_NAMESPACE } from './open-pki.ts';

export interface AcmeAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  /** Targets of the Link headers with this relation. */
  links(relation: string): readonly string[];
  readonly bytes: Buffer;
  // oxlint-disable-next-line typescript/no-explicit-any -- documents are asserted on, not typed
  readonly json: any;
}

export const CLUSTER_PATH = 'https://acme.test/v1/pki';

/** A service and a mount of it. */
export type AcmeTarget = Pick<OpenPki, 'service' | 'mount'>;

/** Sends a request as the gateway would: without a token. */
export const sendToPki = async (
  pki: AcmeTarget,
  method: string,
  url: string,
  body: Buffer = Buffer.alloc(0),
  contentType = 'application/jose+json',
  mount: Mount = pki.mount,
): Promise<AcmeAnswer> => {
  const [path = '', query = ''] = url.slice(CLUSTER_PATH.length).split('?');
  const { head, body: answered } = await pki.service.edge.handle({
    head: {
      requestId: 'request-1',
      method,
      path,
      query,
      headers: { 'content-type': contentType },
      dialect: Dialect.SPECIFICATION,
      remoteAddress: '127.0.0.1',
      baseUrl: 'http://localhost',
      traceparent: '',
      namespace: ROOT_NAMESPACE,
      mount,
      caller: undefined,
      principal: undefined,
    },
    body: bufferedBody(body),
    signal: new AbortController().signal,
  });
  const bytes = Buffer.from(answered as Uint8Array);
  const valuesOf = (name: string): readonly string[] =>
    head.headers.filter((one) => one.name === name).map(({ value }) => value);
  return {
    status: head.status,
    header: (name) => valuesOf(name)[0],
    links: (relation) =>
      valuesOf('link').flatMap((value) => {
        const [, target, given] = /^<([^>]*)>;rel="([^"]*)"$/.exec(value) ?? [];
        return given === relation && target !== undefined ? [target] : [];
      }),
    bytes,
    json: /json/.test(valuesOf('content-type')[0] ?? '') ? JSON.parse(bytes.toString()) : undefined,
  };
};

const toBase64Url = (value: string | Uint8Array): string =>
  Buffer.from(value).toString('base64url');

export interface AccountKey {
  readonly privateKey: KeyObject;
  readonly jwk: Readonly<Record<string, string>>;
  readonly thumbprint: string;
  readonly alg: string;
}

const KINDS = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  EdDSA: () => generateKeyPairSync('ed25519'),
} as const;

export type AccountAlgorithm = keyof typeof KINDS;
export const ACCOUNT_ALGORITHMS = Object.keys(KINDS) as readonly AccountAlgorithm[];

export const newAccountKey = (alg: AccountAlgorithm = 'ES256'): AccountKey => {
  const { publicKey, privateKey } = KINDS[alg]();
  const jwk = publicKey.export({ format: 'jwk' }) as Record<string, string>;
  const canonical = Object.fromEntries(Object.entries(jwk).sort(([a], [b]) => (a < b ? -1 : 1)));
  const thumbprint = createHash('sha256').update(JSON.stringify(canonical)).digest('base64url');
  return { privateKey, jwk, thumbprint, alg };
};

const HASHES: Readonly<Record<string, string | null>> = {
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
  RS256: 'sha256',
  EdDSA: null,
};

/** A flattened JWS; `payload` undefined is the empty one of POST-as-GET. */
export const signJws = (
  key: AccountKey,
  header: Readonly<Record<string, unknown>>,
  payload: unknown,
): Record<string, unknown> => {
  const protectedText = toBase64Url(JSON.stringify({ alg: key.alg, ...header }));
  const payloadText = payload === undefined ? '' : toBase64Url(JSON.stringify(payload));
  const signature = sign(HASHES[key.alg] ?? null, Buffer.from(`${protectedText}.${payloadText}`), {
    key: key.privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  return { protected: protectedText, payload: payloadText, signature: toBase64Url(signature) };
};

/** An external account binding (RFC 8555 §7.3.4); `changes` replace members of its header. */
export const bindAccount = (
  key: AccountKey,
  eab: { readonly id: string; readonly key: string },
  url: string,
  hash = 'sha256',
  changes: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> => {
  const alg = `HS${hash.slice(3)}`;
  const protectedText = toBase64Url(JSON.stringify({ alg, kid: eab.id, url, ...changes }));
  const payloadText = toBase64Url(JSON.stringify(key.jwk));
  const signature = createHmac(hash, Buffer.from(eab.key, 'base64url'))
    .update(`${protectedText}.${payloadText}`)
    .digest('base64url');
  return { protected: protectedText, payload: payloadText, signature };
};

export class AcmeClient {
  readonly #pki: AcmeTarget;
  readonly #mount: Mount;
  readonly base: string;
  readonly key: AccountKey;
  account = '';

  constructor(
    pki: AcmeTarget,
    directory = 'acme/',
    key: AccountKey = newAccountKey(),
    mount: Mount = pki.mount,
  ) {
    this.#pki = pki;
    this.#mount = mount;
    this.base = `${CLUSTER_PATH}/${directory}`;
    this.key = key;
  }

  url(resource: string): string {
    return resource.startsWith('https:') ? resource : this.base + resource;
  }

  get(resource: string, method = 'GET'): Promise<AcmeAnswer> {
    return sendToPki(this.#pki, method, this.url(resource), undefined, '', this.#mount);
  }

  async nonce(): Promise<string> {
    return (await this.get('new-nonce', 'HEAD')).header('replay-nonce') ?? '';
  }

  /** Sends any text, even one that is no JWS. */
  send(resource: string, body: unknown, contentType?: string): Promise<AcmeAnswer> {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    return sendToPki(this.#pki, 'POST', this.url(resource), bytes, contentType, this.#mount);
  }

  /** Signs with the account, or with its key if there is no account yet; `header` replaces members. */
  async post(
    resource: string,
    payload?: unknown,
    header: Readonly<Record<string, unknown>> = {},
  ): Promise<AcmeAnswer> {
    const url = this.url(resource);
    const signer = this.account === '' ? { jwk: this.key.jwk } : { kid: this.account };
    const nonce = header['nonce'] ?? (await this.nonce());
    return this.send(resource, signJws(this.key, { ...signer, url, nonce, ...header }, payload));
  }

  async register(payload: Readonly<Record<string, unknown>> = {}): Promise<AcmeAnswer> {
    const answer = await this.post('new-account', payload);
    if (answer.status < 300) this.account = answer.header('location') ?? '';
    return answer;
  }

  order(...names: readonly string[]): Promise<AcmeAnswer> {
    return this.post('new-order', { identifiers: names.map(toIdentifier) });
  }
}

export const toIdentifier = (value: string): { type: string; value: string } => ({
  type: /^[\d.]+$|:/.test(value) ? 'ip' : 'dns',
  value,
});

/** A CSR as ACME takes it: base64url of its DER. */
export const csrFor = async (
  names: readonly string[],
  {
    key = generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    commonName,
    extensions = [],
  }: {
    readonly key?: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
    readonly commonName?: string;
    readonly extensions?: readonly Extension[];
  } = {},
): Promise<string> => {
  const publicKey = createPublicKey(key.privateKey);
  const der = await createCsr(
    {
      subject: encodeName(
        commonName === undefined ? [] : [[{ type: '2.5.4.3', value: commonName }]],
      ),
      publicKeyDer: publicKey.export({ type: 'spki', format: 'der' }),
      extensions: [
        ...(names.length === 0
          ? []
          : [
              subjectAltName(
                names.map((value) => ({
                  kind: toIdentifier(value).type as 'dns' | 'ip',
                  value,
                })),
                false,
              ),
            ]),
        ...extensions,
      ],
    },
    createSigner(key.privateKey, chooseSignatureScheme(describeKey(key.privateKey), {})),
  );
  return toBase64Url(der);
};
