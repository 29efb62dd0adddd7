/**
 * A server on loopback that answers as Bitbucket Data Center does to an application link: it accepts requests that
 * are signed with the consumer's key (OAuth 1.0a with RSA-SHA1), which it verifies as RFC 5849 says.
 */
import { generateKeyPairSync, randomBytes, randomInt, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LinkedCall {
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
}

export interface LinkedServer extends AsyncDisposable {
  /** Scheme and authority. */
  readonly url: string;
  readonly consumerKey: string;
  /** In PEM form. */
  readonly privateKey: string;
  readonly publicKey: string;
  /** The calls of the REST API that were authorized. */
  readonly calls: LinkedCall[];
  /** Tokens that open the REST API; a test may remove them. */
  readonly accessTokens: Set<string>;
  /** Address of a repository for SSH; undefined if SSH is turned off. */
  sshUrlOf: ((project: string, repository: string) => string) | undefined;
  /** Whether it follows the first edition of the protocol, which confirms no callback address. */
  isFirstEdition: boolean;
  /** A person opens the page of an address, and allows or refuses. A browser allows by opening it. @returns where the person is sent */
  visit(authorizeUrl: string, allows?: boolean): string;
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** `OAuth name="value", …` */
const readHeader = (header: string): Map<string, string> =>
  new Map(
    header
      .replace(/^OAuth /, '')
      .split(',')
      .map((part) => part.trim().split('='))
      .map(([name = '', value = '']) => [name, decodeURIComponent(value.replaceAll('"', ''))]),
  );

const readBody = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString();
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
};

const MAX_AGE_S = 300;

/** @returns a function that returns the problem with a request; undefined if it is signed as it must be */
const createVerifier = (consumerKey: string, publicKey: string) => {
  const nonces = new Set<string>();
  return (method: string, target: URL, sent: Map<string, string>): string | undefined => {
    if (sent.get('oauth_consumer_key') !== consumerKey) return 'consumer_key_unknown';
    if (sent.get('oauth_signature_method') !== 'RSA-SHA1') return 'signature_method_rejected';
    const age = Math.abs(Date.now() / 1000 - Number(sent.get('oauth_timestamp')));
    if (!(age < MAX_AGE_S)) return 'timestamp_refused';
    const nonce = `${sent.get('oauth_nonce')} ${sent.get('oauth_timestamp')}`;
    if (nonces.has(nonce)) return 'nonce_used';
    nonces.add(nonce);
    const signed = [...sent, ...target.searchParams]
      .filter(([name]) => name !== 'oauth_signature' && name !== 'realm')
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join('&');
    const base = [method, `${target.origin}${target.pathname}`, signed].map(encode).join('&');
    const signature = Buffer.from(sent.get('oauth_signature') ?? '', 'base64');
    return verify('RSA-SHA1', Buffer.from(base), publicKey, signature)
      ? undefined
      : 'signature_invalid';
  };
};

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly location?: string;
}

const form = (status: number, fields: Record<string, string>): Answer => ({
  status,
  type: 'application/x-www-form-urlencoded',
  text: new URLSearchParams(fields).toString(),
});
const json = (status: number, body: object): Answer => ({
  status,
  type: 'application/json',
  text: JSON.stringify(body),
});

export const startLinkedServer = async (): Promise<LinkedServer> => {
  const keys = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const consumerKey = 'keelson';
  const calls: LinkedCall[] = [];
  const accessTokens = new Set<string>();
  const problemOf = createVerifier(consumerKey, keys.publicKey);
  /** Attempts by request token; the verifier is given to the person. */
  const attempts = new Map<string, { readonly callback: string; verifier: string }>();

  const newToken = (): string => randomBytes(12).toString('hex');

  const giveRequestToken = (sent: Map<string, string>): Answer => {
    const callback = sent.get('oauth_callback');
    if (callback === undefined) return form(400, { oauth_problem: 'parameter_absent' });
    const token = newToken();
    attempts.set(token, { callback, verifier: '' });
    return form(200, {
      oauth_token: token,
      oauth_token_secret: newToken(),
      ...(!server.isFirstEdition && { oauth_callback_confirmed: 'true' }),
    });
  };
  const giveAccessToken = (sent: Map<string, string>): Answer => {
    const token = sent.get('oauth_token') ?? '';
    const attempt = attempts.get(token);
    attempts.delete(token);
    if (!attempt?.verifier || sent.get('oauth_verifier') !== attempt.verifier)
      return form(401, { oauth_problem: 'token_rejected' });
    const given = newToken();
    accessTokens.add(given);
    return form(200, { oauth_token: given, oauth_token_secret: newToken() });
  };
  const answerRest = (call: LinkedCall, sent: Map<string, string>): Answer => {
    if (!accessTokens.has(sent.get('oauth_token') ?? ''))
      return json(401, { message: 'token_rejected' });
    calls.push(call);
    const [, project = '', name = ''] = /projects\/([^/]+)\/repos\/([^/]+)$/.exec(call.path) ?? [];
    if (call.method === 'GET' && name !== '') {
      const clone = [{ name: 'http', href: `${server.url}/scm/${project}/${name}.git` }];
      const ssh = server.sshUrlOf?.(project, name);
      if (ssh !== undefined) clone.push({ name: 'ssh', href: ssh });
      return json(200, { slug: name, links: { clone } });
    }
    return json(201, { id: 7 });
  };

  const http = createServer((request, response) => {
    const handle = async (): Promise<Answer> => {
      const target = new URL(request.url ?? '', server.url);
      const method = request.method ?? '';
      if (target.pathname === '/plugins/servlet/oauth/authorize')
        return { status: 302, type: 'text/plain', text: '', location: server.visit(target.href) };
      const sent = readHeader(request.headers.authorization ?? '');
      const body = await readBody(request);
      const problem = problemOf(method, target, sent);
      if (problem !== undefined) return form(401, { oauth_problem: problem });
      switch (target.pathname) {
        case '/plugins/servlet/oauth/request-token':
          return giveRequestToken(sent);
        case '/plugins/servlet/oauth/access-token':
          return giveAccessToken(sent);
        default:
          return answerRest({ method, path: target.pathname, body }, sent);
      }
    };
    handle().then(
      ({ status, type, text, location }) =>
        response
          .writeHead(status, { 'content-type': type, ...(location !== undefined && { location }) })
          .end(text),
      (error: unknown) => response.destroy(error as Error),
    );
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const server: LinkedServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    consumerKey,
    ...keys,
    calls,
    accessTokens,
    sshUrlOf: undefined,
    isFirstEdition: false,
    visit: (authorizeUrl, allows = true) => {
      const token = new URL(authorizeUrl).searchParams.get('oauth_token') ?? '';
      const attempt = attempts.get(token);
      if (attempt === undefined) throw new Error(`no attempt has the token ${token}`);
      // As real ones may, it looks like a number.
      if (allows) attempt.verifier = `12e${randomInt(100, 1000)}`;
      const back = new URL(attempt.callback);
      back.searchParams.set('oauth_token', token);
      back.searchParams.set('oauth_verifier', allows ? attempt.verifier : 'denied');
      return back.href;
    },
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections();
      await new Promise((closed) => http.close(closed));
    },
  };
  return server;
};
