/** A token of Vault, OpenBao or Keelson for the length of a phase: it is renewed, and revoked at the end. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { getCACertificates } from 'node:tls';
import { reasonOf } from '../failure-reason.ts';

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
}

const TIME_LIMIT_MS = 15_000;
const ANSWER_LIMIT_BYTES = 256 * 1024;
/** Part of an answer that a message shows. */
const SHOWN_LENGTH = 500;
/** A token is renewed when half of its life is over, and no more often than this. */
const MIN_RENEWAL_MS = 5000;
const MAX_RENEWAL_MS = 60 * 60_000;

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

/** Sends a request, without following redirections. @param proxies as the variables of the environment name them */
const post = async (
  { address, namespace, caPem }: Omit<VaultToken, 'token'>,
  path: string,
  proxies: NodeJS.ProcessEnv,
  { token, body }: { readonly token?: string; readonly body?: object },
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
    signal: AbortSignal.timeout(TIME_LIMIT_MS),
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
    if (status < 200 || status > 299)
      throw new Error(`it answered ${status}: ${text.slice(0, SHOWN_LENGTH)}`);
    return text;
  } finally {
    agent.destroy();
  }
};

interface LoginAnswer {
  readonly auth?: {
    readonly client_token?: unknown;
    readonly lease_duration?: unknown;
    readonly renewable?: unknown;
  };
}

const parseLogin = (text: string): { token: string; renewedAfterMs: number | undefined } => {
  const { auth } = JSON.parse(text) as LoginAnswer;
  const { client_token: token, lease_duration: seconds, renewable } = auth ?? {};
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    throw new Error('it answered without a token');
  const isRenewed = renewable === true && typeof seconds === 'number' && seconds > 0;
  const half = isRenewed ? seconds * 500 : undefined;
  return {
    token,
    renewedAfterMs: half && Math.min(Math.max(half, MIN_RENEWAL_MS), MAX_RENEWAL_MS),
  };
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
  await post(token, 'auth/token/revoke-self', proxies, token);
};

/** Signs in with the token of a run. @throws Error for people, which names the address and the role */
export const signInToVault = async (
  { path, role, jwt, ...place }: VaultLogin,
  proxies: NodeJS.ProcessEnv,
): Promise<VaultSession> => {
  try {
    const body = { role, jwt };
    const answer = parseLogin(await post(place, `auth/${path}/login`, proxies, { body }));
    const token = { ...place, token: answer.token };
    const { renewedAfterMs } = answer;
    // A renewal that fails is repeated: the token may live on.
    const renewal =
      renewedAfterMs === undefined
        ? undefined
        : setInterval(() => {
            post(token, 'auth/token/renew-self', proxies, token).catch(() => undefined);
          }, renewedAfterMs);
    return {
      token,
      end: async () => {
        clearInterval(renewal);
        await revokeVaultToken(token, proxies);
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
