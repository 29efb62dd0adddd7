/** Calls of the secrets service's API (`/v1`) with the token of the session. */

import { ApiProblem, parsedBody, request } from './api-problem.ts';
import { withThoseAbove } from './namespaces-above.ts';
import { warn } from './notices.ts';
import { endSession, readSession, sessionHeaders } from './session.ts';

export type SecretsMethod = 'GET' | 'LIST' | 'POST' | 'PATCH' | 'DELETE';

export interface SecretsCall {
  /** Sent as JSON. */
  readonly body?: object;
  /** Sent as it is, in place of `body`. */
  readonly content?: Blob;
  readonly contentType?: string;
  /** Given by reads, which their page can give up. */
  readonly signal?: AbortSignal;
  /** Whether the caller shows the warnings of the answer by itself. */
  readonly showsWarnings?: boolean;
  /** Namespace in place of the session's; "" is the root. */
  readonly namespace?: string;
  /** Token in place of the session's; "" sends none. */
  readonly token?: string;
}

const TOKEN_HEADER = 'x-service-token';

const credentialsOf = (token: string | undefined): Readonly<Record<string, string>> => {
  if (token === undefined) return sessionHeaders();
  return token === '' ? {} : { [TOKEN_HEADER]: token };
};

const headersFor = (token: string | undefined, namespace: string): Record<string, string> => ({
  ...credentialsOf(token),
  ...(namespace !== '' && { 'x-service-namespace': namespace }),
});

const textOf = (body: unknown, status: number): string => {
  const errors = (body as { errors?: readonly string[] } | undefined)?.errors ?? [];
  return errors.length > 0 ? errors.join('; ') : `the server answered ${status}`;
};

/**
 * Ends the session when a call was refused because of its token and not because of a policy. Whoever has signed in in
 * a namespace above that of the page may often look the token up there alone.
 */
const endIfTokenIsGone = async (login: string): Promise<void> => {
  for (const namespace of withThoseAbove(readSession().namespace)) {
    const answer = await request('/v1/auth/token/lookup-self', {
      headers: headersFor(undefined, namespace),
    });
    // An unread body would keep the request open.
    await answer.body?.cancel();
    if (answer.status !== 403) return;
  }
  if (readSession().secrets === login)
    endSession('secrets', 'The token has expired or was revoked. Sign in again to go on.');
};

/**
 * @param path below `/v1/`
 * @returns the answer, whose body is not read yet
 * @throws {ApiProblem} for a status of 400 and above
 */
export const sendSecrets = async (
  method: SecretsMethod,
  path: string,
  call: SecretsCall = {},
): Promise<Response> => {
  const session = readSession();
  const url =
    method === 'LIST' ? `/v1/${path}${path.includes('?') ? '&' : '?'}list=true` : `/v1/${path}`;
  const answer = await request(url, {
    method: method === 'LIST' ? 'GET' : method,
    headers: {
      ...headersFor(call.token, call.namespace ?? session.namespace),
      ...(call.body && {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      }),
      ...(call.contentType !== undefined && { 'content-type': call.contentType }),
    },
    ...(call.body && { body: JSON.stringify(call.body) }),
    ...(call.content && { body: call.content }),
    ...(call.signal && { signal: call.signal }),
  });
  if (answer.ok) return answer;
  const body = await parsedBody(answer);
  if (answer.status === 403 && call.token === undefined && session.secrets !== undefined)
    await endIfTokenIsGone(session.secrets);
  throw new ApiProblem(answer.status, textOf(body, answer.status));
};

/**
 * @param path below `/v1/`
 * @returns the answer's body; undefined for an answer without one
 * @throws {ApiProblem} for a status of 400 and above
 */
export const callSecrets = async <Body>(
  method: SecretsMethod,
  path: string,
  call: SecretsCall = {},
): Promise<Body> => {
  const body = await parsedBody(await sendSecrets(method, path, call));
  if (call.signal === undefined && call.showsWarnings !== true)
    warn((body as { warnings?: readonly string[] | null } | undefined)?.warnings);
  return body as Body;
};

/** The `data` of an answer; undefined for a 404. */
export const readData = async <Data>(
  path: string,
  call?: SecretsCall,
): Promise<Data | undefined> => {
  try {
    return (await callSecrets<{ data: Data }>('GET', path, call)).data;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return undefined;
    throw error;
  }
};

export interface Listed<Info> {
  readonly keys: readonly string[];
  readonly infos: Readonly<Record<string, Info>>;
}

/** The keys of a LIST and their details; an empty list is not an error. */
export const listKeys = async <Info = unknown>(
  path: string,
  call?: SecretsCall,
): Promise<Listed<Info>> => {
  try {
    const { data } = await callSecrets<{
      data: { keys: readonly string[]; key_info?: Record<string, Info> };
    }>('LIST', path, call);
    return { keys: data.keys, infos: data.key_info ?? {} };
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return { keys: [], infos: {} };
    throw error;
  }
};
