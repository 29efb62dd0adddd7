/** A token of Vault, OpenBao or Keelson for the length of a phase: it is renewed, and revoked at the end. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { getCACertificates } from 'node:tls';
import { reasonOf } from '../failure-reason.ts';
import { keepRenewed, SYSTEM_TIMING, type Timing } from './lease-renewal.ts';
import { Mask } from './mask.ts';

/** Where a token was obtained, and the token: enough to revoke it. */
export interface VaultToken {
  readonly address: string;
  readonly namespace: string;
  /** Authorities that are trusted in addition; "" for none. */
  readonly caPem: string;
  readonly token: string;
}

export interface VaultLogin extends Omit<VaultToken, 'token'> {
  /** Path of the mount below `auth/`. */
  readonly path: string;
  readonly role: string;
  readonly jwt: string;
  /** For each request of the login and of renewals. */
  readonly timeLimitMs: number;
}

/** A session has these from the agent. */
export interface VaultMeans {
  /** The variables of the environment that name proxies. */
  readonly proxies: NodeJS.ProcessEnv;
  /** Tells the people of the run why its token ends before it. */
  readonly say: (text: string) => void;
  readonly timing?: Timing | undefined;
}

/** For each request, unless the variables of the workspace have another. */
export const TIME_LIMIT_MS = 15_000;
const ANSWER_LIMIT_BYTES = 256 * 1024;
/** Part of an answer that a message shows. */
const SHOWN_LENGTH = 500;

const readAnswer = async (response: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    length += part.byteLength;
    if (length > ANSWER_LIMIT_BYTES)
      throw new Error(`it answered more than ${ANSWER_LIMIT_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
};

/** The beginning of an answer. A secret is hidden before the cut, which would otherwise leave a part of it. */
const shownPart = (text: string, secrets: readonly string[]): string => {
  const mask = new Mask();
  mask.hide(secrets);
  return mask.masked(text).slice(0, SHOWN_LENGTH);
};

interface Sent {
  readonly proxies: NodeJS.ProcessEnv;
  readonly token?: string;
  readonly body?: { readonly role: string; readonly jwt: string };
  readonly timeLimitMs?: number;
  /** Gives the request up. */
  readonly signal?: AbortSignal;
}

/** Sends a request, without following redirections. */
const post = async (
  { address, namespace, caPem }: Omit<VaultToken, 'token'>,
  path: string,
  { proxies, token, body, timeLimitMs = TIME_LIMIT_MS, signal }: Sent,
): Promise<string> => {
  const url = new URL(`${address}/v1/${path}`);
  const ca = caPem === '' ? undefined : [...getCACertificates('default'), caPem];
  const isPlain = url.protocol === 'http:';
  const agent = isPlain
    ? new HttpAgent({ proxyEnv: proxies })
    : new HttpsAgent({ proxyEnv: proxies, ca });
  const options = {
    method: 'POST',
    agent,
    signal: AbortSignal.any([AbortSignal.timeout(timeLimitMs), ...(signal ? [signal] : [])]),
    headers: {
      'content-type': 'application/json',
      ...(namespace === '' ? {} : { 'x-vault-namespace': namespace }),
      ...(token === undefined ? {} : { 'x-vault-token': token }),
    },
  };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = isPlain ? httpRequest(url, options, resolve) : httpsRequest(url, options, resolve);
  sent.on('error', reject);
  sent.end(JSON.stringify(body ?? {}));
  try {
    const response = await promise;
    const text = await readAnswer(response);
    const status = response.statusCode ?? 0;
    if (status >= 200 && status <= 299) return text;
    const secrets = [token, body?.jwt].filter((secret) => secret !== undefined);
    throw new Error(`it answered ${status}: ${shownPart(text, secrets)}`);
  } finally {
    agent.destroy();
  }
};

interface AuthAnswer {
  readonly client_token?: unknown;
  readonly lease_duration?: unknown;
  readonly renewable?: unknown;
}

/** @throws Error without a part of the answer, which may have a token that is not hidden yet */
const parseAuth = (text: string): AuthAnswer => {
  try {
    return (JSON.parse(text) as { readonly auth?: AuthAnswer } | null)?.auth ?? {};
  } catch {
    throw new Error('it answered with something that is not JSON');
  }
};

const parseLogin = (text: string): { token: string; leaseMs: number | undefined } => {
  const { client_token: token, lease_duration: seconds, renewable } = parseAuth(text);
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    throw new Error('it answered without a token');
  const isRenewed = renewable === true && typeof seconds === 'number' && seconds > 0;
  return { token, leaseMs: isRenewed ? seconds * 1000 : undefined };
};

const parseRenewal = (text: string): number => {
  const { lease_duration: seconds } = parseAuth(text);
  if (typeof seconds !== 'number' || seconds <= 0) throw new Error('it answered without a lease');
  return seconds * 1000;
};

export interface VaultSession {
  readonly token: VaultToken;
  /** Revokes the token. @throws Error when that fails; the token then ends by its time */
  end(): Promise<void>;
}

export const revokeVaultToken = async (
  token: VaultToken,
  proxies: NodeJS.ProcessEnv,
): Promise<void> => {
  await post(token, 'auth/token/revoke-self', { proxies, token: token.token });
};

/** Signs in with the token of a run. @throws Error for people, which names the address and the role */
export const signInToVault = async (
  { path, role, jwt, timeLimitMs, ...place }: VaultLogin,
  { proxies, say, timing = SYSTEM_TIMING }: VaultMeans,
): Promise<VaultSession> => {
  try {
    const grantedAtMs = timing.nowMs();
    const sent = { proxies, timeLimitMs, body: { role, jwt } };
    const { token, leaseMs } = parseLogin(await post(place, `auth/${path}/login`, sent));
    const over = new AbortController();
    const renew = async (): Promise<number> => {
      const again = { proxies, timeLimitMs, token, signal: over.signal };
      return parseRenewal(await post(place, 'auth/token/renew-self', again));
    };
    const keep = async (lengthMs: number): Promise<void> => {
      const reason = await keepRenewed({ grantedAtMs, lengthMs }, renew, timing, over.signal);
      if (reason !== undefined)
        say(`The token of ${place.address} could not be renewed, and ends by its time: ${reason}`);
    };
    if (leaseMs !== undefined) void keep(leaseMs);
    return {
      token: { ...place, token },
      end: async () => {
        over.abort();
        await revokeVaultToken({ ...place, token }, proxies);
      },
    };
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new Error(
      `The login with role ${role} at ${place.address}/v1/auth/${path} failed: ${reason}`,
      {
        cause,
      },
    );
  }
};
