/** Answers to ACME clients, refusals included, with their common headers. */
import type { EdgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { AcmeProblem } from '../problems/problem.ts';
import { refusalDocument } from '../problems/problem-document.ts';

export interface AcmeAnswer {
  /** 200 when absent. */
  readonly status?: number;
  /** A document, or the bytes of `contentType`; absent means no content. */
  readonly body?: Readonly<Record<string, unknown>> | Uint8Array;
  readonly contentType?: string;
  readonly location?: string;
  readonly retryAfterSeconds?: number;
  readonly allow?: string;
  /** URLs and relations of `Link` headers, in addition to the index (RFC 8555 §7.1). */
  readonly links?: readonly (readonly [string, string])[];
  /** Replaces the default, `no-store`. */
  readonly cacheControl?: string;
}

const NOTHING = new Uint8Array(0);

const contentOf = ({
  body,
  contentType,
}: AcmeAnswer): readonly [Uint8Array, string | undefined] => {
  if (body === undefined) return [NOTHING, undefined];
  if (body instanceof Uint8Array) return [body, contentType];
  return [Buffer.from(JSON.stringify(body)), contentType ?? 'application/json'];
};

/**
 * @param indexUrl of the directory
 * @param nonce RFC 8555 §6.5: in every answer to a POST and every error; undefined for answers that
 * may be cached
 */
export const renderAcme = (
  indexUrl: string,
  nonce: string | undefined,
  answer: AcmeAnswer,
): EdgeResponse => {
  const [content, contentType] = contentOf(answer);
  const { status = 200, location, retryAfterSeconds, allow, links = [] } = answer;
  const headers: { name: string; value: string }[] = [];
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined) headers.push({ name, value });
  };
  add('content-type', contentType);
  add('replay-nonce', nonce);
  add('location', location);
  add('retry-after', retryAfterSeconds?.toString());
  add('allow', allow);
  add('link', `<${indexUrl}>;rel="index"`);
  for (const [url, relation] of links) add('link', `<${url}>;rel="${relation}"`);
  add('cache-control', answer.cacheControl ?? 'no-store');
  return { head: { status, headers }, body: content };
};

/** The problem document for any thrown value; `serverInternal` for a bug in this service. */
export const toProblem = (thrown: unknown, requestId: string): AcmeProblem => {
  if (thrown instanceof AcmeProblem) return thrown;
  const error = KeelsonError.from(thrown);
  if (error.code === 'internal')
    return new AcmeProblem('serverInternal', `internal error, request id ${requestId}`, {
      cause: thrown,
    });
  const status = error.httpStatus;
  if (status >= 500)
    return new AcmeProblem('serverInternal', error.message, { status, cause: error });
  if (status === 429)
    return new AcmeProblem('rateLimited', error.message, { status, cause: error });
  return new AcmeProblem('malformed', error.message, { status, cause: error });
};

export const refusalAnswer = (problem: AcmeProblem): AcmeAnswer => ({
  status: problem.status,
  body: refusalDocument(problem),
  contentType: 'application/problem+json',
  ...(problem.extras.terms !== undefined && {
    links: [[problem.extras.terms, 'terms-of-service']],
  }),
  ...(problem.extras.location !== undefined && { location: problem.extras.location }),
  ...(problem.extras.retryAfterSeconds !== undefined && {
    retryAfterSeconds: problem.extras.retryAfterSeconds,
  }),
  ...(problem.extras.allow !== undefined && { allow: problem.extras.allow }),
});
