/** Requests to the APIs of providers. */
import { type Outbound, outboundFailure, readBeginning } from '@keelson/outbound';
import { RepositoryFailure } from '../model/repository-failure.ts';
import type { ProviderRequest } from './provider.ts';

/** Larger than any expected answer; a longer one is cut, so it is not valid JSON. */
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_SHOWN_LENGTH = 200;
const TIME_LIMIT_MS = 30_000;

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

/**
 * Sends a request and returns the parsed answer. Redirects are not followed, because they would
 * receive the credentials. @param alsoFine statuses other than 2xx that result in undefined
 * @throws RepositoryFailure when there is no answer, or one of another status
 */
export const sendToProvider = async (
  { fetch }: Pick<Outbound, 'fetch'>,
  { method, url, headers, body }: ProviderRequest,
  alsoFine: readonly number[] = [],
): Promise<unknown> => {
  const { host } = new URL(url);
  try {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIME_LIMIT_MS),
      headers: {
        'user-agent': 'keelson',
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await readBeginning(response, MAX_ANSWER_BYTES);
    if (alsoFine.includes(response.status)) return undefined;
    if (response.ok) return parseAnswer(host, answer);
    throw new RepositoryFailure(`${host} answered with ${response.status}${toReason(answer)}`);
  } catch (error) {
    if (error instanceof RepositoryFailure) throw error;
    throw new RepositoryFailure(`${host} cannot be reached: ${outboundFailure(error)}`);
  }
};
