/** Calls the public API, and turns its refusals into messages that say what to do. */
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { CliFailure } from './failure.ts';
import { requireToken, type TokenKind } from './token-files.ts';

export const DEFAULT_ADDRESS = 'http://127.0.0.1:8200';

// oxlint-disable-next-line typescript/no-explicit-any -- documents of many routes
export type Document = any;

export interface Connection {
  readonly address: string;
  /** PEM file of the CA that issued the server's certificate. */
  readonly caFile: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Sends requests in place of `fetch` of the platform. */
  readonly send?: (url: URL, init: SentRequest) => Promise<Response>;
}

interface SentRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Blob | ReadableStream;
  readonly duplex: 'half';
}

export interface CallOptions {
  readonly method?: string;
  /** Sent as JSON; a Blob or a stream is sent as it is. */
  readonly body?: unknown;
  /** Statuses that are not failures, in addition to those of success. */
  readonly accept?: readonly number[];
  /** Whether the call needs no token. */
  readonly isAnonymous?: boolean;
}

const REMEDIES: Readonly<Record<number, string>> = {
  401: 'Log in with `keelson login --api`, or set KEELSON_API_TOKEN.',
  403: 'The token may not do this, or is no longer valid: log in with `keelson login`, or set KEELSON_TOKEN.',
  429: 'Too many requests: try again in a second.',
};

const SEALED = 'Open the seal with `keelson unseal`.';

/** The messages of an error document of either API. */
export const textsOf = (document: Document): string =>
  Array.isArray(document?.errors)
    ? document.errors
        .map((error: Document) =>
          typeof error === 'string' ? error : (error?.detail ?? error?.title ?? ''),
        )
        .filter((text: string) => text !== '')
        .join('; ')
    : '';

const toFailure = (status: number, text: string, what: string): CliFailure => {
  const remedy = /sealed/i.test(text) ? SEALED : REMEDIES[status];
  const untold = status === 404 ? 'it does not exist' : `the server answered ${status}`;
  const said = text === '' ? untold : text;
  return new CliFailure([`${what}: ${said}.`.replace('..', '.'), remedy].filter(Boolean).join(' '));
};

/** Bodies that are sent as they are: snapshots. */
const isBinary = (body: unknown): body is Blob | ReadableStream =>
  body instanceof Blob || body instanceof ReadableStream;

const toContentType = (kind: TokenKind, body: unknown): string => {
  if (kind === 'api-token') return 'application/vnd.api+json';
  return isBinary(body) ? 'application/gzip' : 'application/json';
};

const causeOf = (error: unknown): string => {
  const { cause } = error as { readonly cause?: unknown };
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(error);
};

const unreachable = (address: string, error: unknown): CliFailure => {
  const code = causeOf(error);
  if (/CERT|SELF_SIGNED|ISSUER/.test(code))
    return new CliFailure(
      `${address}: the certificate of the server is not trusted (${code}). Name its CA with --ca-cert or KEELSON_CACERT; a standalone server keeps it in data/tls/ca.pem.`,
    );
  return new CliFailure(
    `${address} cannot be reached (${code}). Start a server with \`keelson start\`, or name another one with --address or KEELSON_ADDR.`,
  );
};

/**
 * Trusts, from now on, servers with certificates of the CA in this PEM file.
 * @throws CliFailure if it cannot be read
 */
export const trustAlso = (caFile: string): void => {
  let authority: string;
  try {
    authority = readFileSync(caFile, 'utf8');
  } catch (error) {
    throw new CliFailure(
      `${caFile} cannot be read (${causeOf({ cause: error })}). --ca-cert, KEELSON_CACERT or VAULT_CACERT names the PEM file of the CA of the server.`,
    );
  }
  // Node ignores a text without certificates.
  if (!/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/.test(authority))
    throw new CliFailure(
      `${caFile} contains no certificate in PEM. --ca-cert, KEELSON_CACERT or VAULT_CACERT names the file of the CA of the server.`,
    );
  setDefaultCACertificates([...getCACertificates('default'), authority]);
};

export class ApiClient {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
    if (connection.caFile !== undefined) trustAlso(connection.caFile);
  }

  /** A document of `/v1`; undefined if the answer has none. */
  async v1(path: string, options: CallOptions = {}): Promise<Document> {
    return this.#document(`/v1/${path}`, 'token', options);
  }

  /** A document of `/api/v2`. */
  async api(path: string, options: CallOptions = {}): Promise<Document> {
    return this.#document(`/api/v2/${path}`, 'api-token', options);
  }

  /** All resources of a list of `/api/v2`, page by page. */
  async apiList(path: string): Promise<readonly Document[]> {
    const found: Document[] = [];
    for (let page: number | null = 1; page !== null; ) {
      const answer: Document = await this.api(`${path}?page[size]=100&page[number]=${page}`);
      found.push(...answer.data);
      page = answer.meta?.pagination?.['next-page'] ?? null;
    }
    return found;
  }

  /** The unread answer, whose body the caller reads. */
  async raw(path: string, options: CallOptions = {}): Promise<Response> {
    return this.#call(path, path.startsWith('/v1') ? 'token' : 'api-token', options);
  }

  async #document(path: string, kind: TokenKind, options: CallOptions): Promise<Document> {
    const response = await this.#call(path, kind, options);
    const text = await response.text();
    return text === '' ? undefined : JSON.parse(text);
  }

  async #call(path: string, kind: TokenKind, options: CallOptions): Promise<Response> {
    const { address, environment, send = fetch } = this.#connection;
    const { method = 'GET', body, accept = [], isAnonymous = false } = options;
    const token = isAnonymous ? undefined : requireToken(environment, kind);
    let response: Response;
    try {
      response = await send(new URL(path, address), {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': toContentType(kind, body) }),
        },
        ...(body !== undefined && { body: isBinary(body) ? body : JSON.stringify(body) }),
        // A stream is sent before the answer is read.
        duplex: 'half',
      });
    } catch (error) {
      throw unreachable(address, error);
    }
    if (response.ok || accept.includes(response.status)) return response;
    const text = await response.text();
    let said = '';
    try {
      said = textsOf(JSON.parse(text));
    } catch {
      said = '';
    }
    throw toFailure(response.status, said, `${method} ${path.split('?')[0]}`);
  }
}
