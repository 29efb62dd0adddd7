/** A lean ACME client (RFC 8555) for many orders at a time: one account, kept connections, kept nonces. */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export interface AcmeSessionOptions {
  readonly directory: string;
  /** What HTTPS trusts, PEM; absent: anything, for servers with a certificate for tests. */
  readonly ca?: string;
  /** Connections at most. */
  readonly connections: number;
  /** False opens a connection for each request. */
  readonly keepAlive?: boolean;
  /** After this long without an answer a request fails. */
  readonly answerWithinMs?: number;
}

export interface AcmeReply {
  readonly status: number;
  readonly location: string;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- documents are read, not typed
  readonly json: any;
}

interface Received extends AcmeReply {
  readonly nonce: string | undefined;
}

/** The answer is a problem document. */
export class AcmeRefusal extends Error {
  readonly status: number;
  /** "badNonce"; empty when the body is none. */
  readonly type: string;

  constructor({ status, text, json }: AcmeReply) {
    super(`${status} ${text}`);
    this.status = status;
    this.type = String(json?.type ?? '').replace(/^.*:/, '');
  }
}

const base64url = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export class AcmeSession {
  readonly #options: AcmeSessionOptions;
  readonly #agent: HttpAgent;
  readonly #key: KeyObject;
  readonly #jwk: object;
  readonly #nonces: string[] = [];
  #directory: Readonly<Record<string, string>> = {};
  #account = '';
  /** Of the account's key (RFC 7638). */
  readonly thumbprint: string;

  private constructor(options: AcmeSessionOptions) {
    const { directory, ca, connections, keepAlive = true } = options;
    this.#options = options;
    this.#agent = directory.startsWith('https:')
      ? new HttpsAgent({
          keepAlive,
          maxSockets: connections,
          ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
        })
      : new HttpAgent({ keepAlive, maxSockets: connections });
    this.#key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const { x, y } = createPublicKey(this.#key).export({ format: 'jwk' });
    this.#jwk = { crv: 'P-256', kty: 'EC', x, y };
    this.thumbprint = createHash('sha256').update(JSON.stringify(this.#jwk)).digest('base64url');
  }

  /** A session with an account of its own. @throws AcmeRefusal */
  static async open(options: AcmeSessionOptions): Promise<AcmeSession> {
    const session = new AcmeSession(options);
    session.#directory = (await session.#send('GET', options.directory)).json;
    const { location } = await session.post('newAccount', { termsOfServiceAgreed: true });
    session.#account = location;
    return session;
  }

  /**
   * Signs and sends; a refused nonce is replaced by another.
   * @param to URL, or the name of a resource in the directory
   * @param payload undefined: POST-as-GET
   * @throws AcmeRefusal
   */
  async post(to: string, payload?: unknown): Promise<AcmeReply> {
    const url = this.#directory[to] ?? to;
    for (;;) {
      const nonce = this.#nonces.pop() ?? (await this.#newNonce());
      const signer = this.#account === '' ? { jwk: this.#jwk } : { kid: this.#account };
      const protectedHeader = base64url({ alg: 'ES256', nonce, url, ...signer });
      const body = payload === undefined ? '' : base64url(payload);
      const signature = sign('sha256', Buffer.from(`${protectedHeader}.${body}`), {
        key: this.#key,
        dsaEncoding: 'ieee-p1363',
      }).toString('base64url');
      const document = { protected: protectedHeader, payload: body, signature };
      const reply = await this.#send('POST', url, JSON.stringify(document));
      if (reply.nonce !== undefined) this.#nonces.push(reply.nonce);
      if (reply.status < 400) return reply;
      const refusal = new AcmeRefusal(reply);
      if (refusal.type !== 'badNonce') throw refusal;
    }
  }

  keyAuthorization(token: string): string {
    return `${token}.${this.thumbprint}`;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #newNonce(): Promise<string> {
    const reply = await this.#send('HEAD', this.#directory['newNonce'] ?? '');
    if (reply.nonce === undefined) throw new AcmeRefusal(reply);
    return reply.nonce;
  }

  #send(method: string, url: string, body?: string): Promise<Received> {
    const send = this.#options.directory.startsWith('https:') ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const request = send(
        url,
        {
          method,
          agent: this.#agent,
          headers:
            body === undefined
              ? {}
              : {
                  'content-type': 'application/jose+json',
                  'content-length': Buffer.byteLength(body),
                },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          response.once('error', reject).once('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              location: response.headers.location ?? '',
              nonce: response.headers['replay-nonce'] as string | undefined,
              text,
              json: parseJson(text),
            }),
          );
        },
      );
      const { answerWithinMs } = this.#options;
      if (answerWithinMs !== undefined)
        request.setTimeout(answerWithinMs, () => request.destroy(new Error(`${url}: no answer`)));
      request.on('error', reject).end(body);
    });
  }
}
