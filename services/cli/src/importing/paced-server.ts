/** A client that respects the rate limit of a server, and distinguishes refusals of one item from failures. */
import { setTimeout as wait } from 'node:timers/promises';
import { textsOf } from '../client/api-client.ts';
import { CliFailure } from '../client/failure.ts';

/** After this many refusals in a row, the server is assumed to be overloaded by other clients. */
const MAX_ATTEMPTS = 30;
const LONGEST_WAIT_SECONDS = 60;
/** Time limit of a request; the longest one transfers a large state. */
const TIMEOUT_MS = 300_000;
const TOO_MANY_REQUESTS = 429;
const NOT_FOUND = 404;

/** The server understood the request and refused it; other requests may succeed. */
export class RefusedRequest extends Error {
  readonly status: number;
  /** The server's message; empty if it gave no reason, as for an empty list of `/v1`. */
  readonly reason: string;

  constructor(request: string, status: number, reason: string) {
    super(`${request}: ${reason || `status ${status}`}`);
    this.status = status;
    this.reason = reason;
  }
}

export interface PacedRequest {
  readonly method?: string;
  readonly body?: string | Buffer<ArrayBuffer>;
  readonly contentType?: string;
}

/** Seconds to wait, from either header of the server; 1 if there is none. */
const waitSeconds = ({ headers }: Response): number => {
  const named = Number(headers.get('retry-after') ?? headers.get('x-ratelimit-reset') ?? 1);
  return Number.isFinite(named) ? Math.min(Math.max(named, 0), LONGEST_WAIT_SECONDS) : 1;
};

const reasonOf = async (response: Response): Promise<string> => {
  const text = await response.text();
  try {
    return textsOf(JSON.parse(text));
  } catch {
    return '';
  }
};

export class PacedServer {
  readonly #base: URL;
  readonly #credentials: Readonly<Record<string, string>>;

  /**
   * @param base address that paths are relative to, with a slash at the end
   * @param credentials headers for the server itself; other servers, to which signed addresses may lead, receive none
   */
  constructor(base: URL, credentials: Readonly<Record<string, string>>) {
    this.#base = base;
    this.#credentials = credentials;
  }

  /**
   * @throws RefusedRequest when the server refuses this request
   * @throws CliFailure when it cannot be reached, does not know the token, or fails
   */
  async call(path: string, request: PacedRequest = {}): Promise<Response> {
    const { method = 'GET', body, contentType } = request;
    const url = new URL(path, this.#base);
    const headers = {
      ...(url.origin === this.#base.origin && this.#credentials),
      ...(contentType !== undefined && { 'content-type': contentType }),
    };
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#fetch(url, { method, headers, ...(body && { body }) });
      if (response.ok) return response;
      if (response.status === TOO_MANY_REQUESTS && attempt < MAX_ATTEMPTS) {
        await response.body?.cancel();
        await wait(waitSeconds(response) * 1000);
        continue;
      }
      // A signed address is a credential; its signature is in the query.
      const asked = `${method} ${url.origin}${url.pathname}`;
      const refusal = new RefusedRequest(asked, response.status, await reasonOf(response));
      const concernsAll = response.status === 401 || response.status >= 500;
      throw concernsAll ? new CliFailure(refusal.message) : refusal;
    }
  }

  async #fetch(url: URL, request: RequestInit): Promise<Response> {
    try {
      return await fetch(url, { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) });
    } catch (error) {
      const { cause, message } = error as Error;
      const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : message;
      throw new CliFailure(`${url.origin} cannot be reached (${reason}).`);
    }
  }
}

/** For answers that an import does not depend on. */
export const orNothing = (error: unknown): undefined => {
  if (error instanceof RefusedRequest) return undefined;
  throw error;
};

/** undefined if it does not exist, or the token may not read it. */
export const unlessAbsent = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RefusedRequest && error.status === NOT_FOUND) return undefined;
    throw error;
  }
};
