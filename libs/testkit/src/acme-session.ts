/** A lean ACME client (RFC 8555) for many orders at a time: one account, reused connections and nonces. */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import type { Agent } from 'undici';

export interface AcmeSessionOptions {
  readonly directory: string;
  /** Trusted CA certificates, PEM; if absent, any certificate is trusted, for test servers. */
  readonly ca?: string;
  /** Largest number of connections. */
  readonly connections: number;
  /** false opens a connection for each request. */
  readonly keepAlive?: boolean;
  /** Time after which a request without an answer fails. */
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

/** An error that the server reported in a problem document. */
export class AcmeRefusal extends Error {
  readonly status: number;
  /** Type such as "badNonce"; empty when the body is no problem document. */
  readonly type: string;

  constructor({ status, text, json }: AcmeReply) {
    super(`${status} ${text}`);
    this.status = status;
    this.type = String(json?.type ?? '').replace(/^.*:/, '');
  }
}

const base64url = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

const COORDINATE_BYTES = 32;

/** Converts an ECDSA P-256 signature from DER to R ‖ S (RFC 7518 §3.4), in half the time of node:crypto. */
const toFixedLength = (der: Buffer): Buffer => {
  const fixed = Buffer.alloc(2 * COORDINATE_BYTES);
  let at = 2;
  for (const end of [COORDINATE_BYTES, 2 * COORDINATE_BYTES]) {
    const length = der[at + 1] as number;
    const number = der.subarray(at + 2, at + 2 + length);
    const kept = number.subarray(Math.max(0, length - COORDINATE_BYTES));
    kept.copy(fixed, end - kept.length);
    at += 2 + length;
  }
  return fixed;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export class AcmeSession {
  readonly #directoryUrl: string;
  readonly #agent: Agent;
  readonly #key: KeyObject;
  readonly #jwk: object;
  readonly #nonces: string[] = [];
  #directory: Readonly<Record<string, string>> = {};
  #account = '';
  /** Thumbprint of the account's key (RFC 7638). */
  readonly thumbprint: string;

  private constructor(directory: string, agent: Agent) {
    this.#directoryUrl = directory;
    this.#agent = agent;
    this.#key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const { x, y } = createPublicKey(this.#key).export({ format: 'jwk' });
    this.#jwk = { crv: 'P-256', kty: 'EC', x, y };
    this.thumbprint = createHash('sha256').update(JSON.stringify(this.#jwk)).digest('base64url');
  }

  /** Opens a session with a new account. @throws AcmeRefusal */
  static async open(options: AcmeSessionOptions): Promise<AcmeSession> {
    const { directory, ca, connections, keepAlive = true, answerWithinMs = 0 } = options;
    // Loaded only when needed, because most users of this library open no session.
    const { Agent } = await import('undici');
    const agent = new Agent({
      connections,
      // 0 opens a connection for each request.
      pipelining: keepAlive ? 1 : 0,
      headersTimeout: answerWithinMs,
      bodyTimeout: answerWithinMs,
      connect: ca === undefined ? { rejectUnauthorized: false } : { ca },
    });
    const session = new AcmeSession(directory, agent);
    session.#directory = (await session.#send('GET', session.#directoryUrl)).json;
    const { location } = await session.post('newAccount', { termsOfServiceAgreed: true });
    session.#account = location;
    return session;
  }

  /**
   * Signs and sends a request; after `badNonce` it is repeated with another nonce.
   * @param to URL, or the name of a resource in the directory
   * @param payload undefined for POST-as-GET
   * @throws AcmeRefusal
   */
  async post(to: string, payload?: unknown): Promise<AcmeReply> {
    const url = this.#directory[to] ?? to;
    for (;;) {
      const nonce = this.#nonces.pop() ?? (await this.#newNonce());
      const signer = this.#account === '' ? { jwk: this.#jwk } : { kid: this.#account };
      const protectedHeader = base64url({ alg: 'ES256', nonce, url, ...signer });
      const body = payload === undefined ? '' : base64url(payload);
      const signed = sign('sha256', Buffer.from(`${protectedHeader}.${body}`), this.#key);
      const signature = toFixedLength(signed).toString('base64url');
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

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #newNonce(): Promise<string> {
    const reply = await this.#send('HEAD', this.#directory['newNonce'] ?? '');
    if (reply.nonce === undefined) throw new AcmeRefusal(reply);
    return reply.nonce;
  }

  async #send(method: 'GET' | 'HEAD' | 'POST', url: string, body?: string): Promise<Received> {
    const { origin, pathname, search } = new URL(url);
    const {
      statusCode,
      headers,
      body: content,
    } = await this.#agent.request({
      origin,
      path: pathname + search,
      method,
      ...(body !== undefined && { body, headers: { 'content-type': 'application/jose+json' } }),
    });
    const text = await content.text();
    return {
      status: statusCode,
      location: String(headers['location'] ?? ''),
      nonce: headers['replay-nonce'] as string | undefined,
      text,
      json: parseJson(text),
    };
  }
}
