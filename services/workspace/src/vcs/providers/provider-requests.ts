/** Requests to the APIs of providers. */

import { type Outbound, outboundFailure, readBeginning } from '@keelson/outbound';
import { RepositoryFailure } from '@keelson/repositories';
import type { ProviderRequest } from './provider.ts';

/** Larger than any expected answer; a longer one is cut, so it is not valid JSON. */
export const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_SHOWN_LENGTH = 200;
export const REQUEST_TIME_LIMIT_MS = 30_000;

/** The provider's reason for a refusal, if its document has one. */
const toReason = (answer: string): string => {
  try {
    const { message } = JSON.parse(answer) as { readonly message?: unknown };
    return typeof message === 'string' ? `: ${message.slice(0, MAX_SHOWN_LENGTH)}` : '';
  } catch {
    return '';
  }
};

const parseAnswer = (host: string, answer: string): unknown => {
  try {
    return answer === '' ? undefined : JSON.parse(answer);
  } catch {
    throw new RepositoryFailure(`${host} answered with something that is not JSON`);
  }
};

/** A request as it is sent, with its body as text. */
export interface HttpRequest extends Pick<ProviderRequest, 'method' | 'url'> {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export const toHttpRequest = ({ method, url, headers, body }: ProviderRequest): HttpRequest => ({
  method,
  url,
  headers: {
    'user-agent': 'keelson',
    ...headers,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  },
  body: body === undefined ? undefined : JSON.stringify(body),
});

/**
 * @param alsoFine statuses other than 2xx that result in undefined
 * @returns the parsed body; undefined if it is empty
 * @throws RepositoryFailure for an answer of another status, or one that is not JSON
 */
export const parseProviderAnswer = (
  host: string,
  { status, text }: { readonly status: number; readonly text: string },
  alsoFine: readonly number[] = [],
): unknown => {
  if (alsoFine.includes(status)) return undefined;
  if (status >= 200 && status < 300) return parseAnswer(host, text);
  throw new RepositoryFailure(`${host} answered with ${status}${toReason(text)}`);
};

/** Sends a request. Redirects are not followed, because they would receive the credentials. */
const exchange = async <T>(
  { fetch }: Pick<Outbound, 'fetch'>,
  request: ProviderRequest,
  read: (host: string, answer: { readonly status: number; readonly text: string }) => T,
): Promise<T> => {
  const { url, method, headers, body } = toHttpRequest(request);
  const { host } = new URL(url);
  try {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(REQUEST_TIME_LIMIT_MS),
      headers,
      ...(body !== undefined && { body }),
    });
    const text = await readBeginning(response, MAX_ANSWER_BYTES);
    return read(host, { status: response.status, text });
  } catch (error) {
    if (error instanceof RepositoryFailure) throw error;
    throw new RepositoryFailure(`${host} cannot be reached: ${outboundFailure(error)}`);
  }
};

/**
 * Sends a request and returns the parsed answer. @param alsoFine see `parseProviderAnswer`
 * @throws RepositoryFailure when there is no answer, or one of another status
 */
export const sendToProvider = (
  outbound: Pick<Outbound, 'fetch'>,
  request: ProviderRequest,
  alsoFine: readonly number[] = [],
): Promise<unknown> =>
  exchange(outbound, request, (host, answer) => parseProviderAnswer(host, answer, alsoFine));

/**
 * Sends a request whose answer is a form, as those of OAuth 1.0a are.
 * @throws RepositoryFailure when there is no answer, or one that is not of status 200, with the problem it names
 */
export const sendForForm = (
  outbound: Pick<Outbound, 'fetch'>,
  request: ProviderRequest,
): Promise<URLSearchParams> =>
  exchange(outbound, request, (host, { status, text }) => {
    const form = new URLSearchParams(text);
    if (status === 200) return form;
    const problem = form.get('oauth_problem')?.slice(0, MAX_SHOWN_LENGTH);
    throw new RepositoryFailure(
      `${host} answered with ${status}${problem === undefined ? '' : `: ${problem}`}`,
    );
  });
