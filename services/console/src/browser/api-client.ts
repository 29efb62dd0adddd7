/** Calls of the secrets service's API from the page. */

export interface Session {
  /** Undefined before login. */
  readonly token: string | undefined;
  /** Path of the namespace without slashes at its ends; "" is the root. */
  readonly namespace: string;
}

/** An answer with an error status; `message` holds the server's texts. */
export class ApiError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const headersOf = ({ token, namespace }: Session): Record<string, string> => ({
  ...(token !== undefined && { 'x-service-token': token }),
  ...(namespace !== '' && { 'x-service-namespace': namespace }),
});

const textOf = (body: unknown, status: number): string => {
  const errors = (body as { errors?: readonly string[] } | undefined)?.errors ?? [];
  return errors.length > 0 ? errors.join('; ') : `the server answered ${status}`;
};

/**
 * @param path below `/v1/`
 * @returns the answer's body; undefined for an answer without one
 * @throws {ApiError} for a status of 400 and above
 */
export const callApi = async (
  session: Session,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<unknown> => {
  const send = (): Promise<Response> =>
    fetch(`/v1/${path}`, {
      method,
      cache: 'no-store',
      headers: { ...headersOf(session), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  // Browsers drop what is under way when the machine's network changes; a read can be tried again.
  const answer = await send().catch((error: unknown) => {
    if (method === 'GET') return send();
    throw error;
  });
  const text = await answer.text();
  const parsed: unknown = text === '' ? undefined : JSON.parse(text);
  if (!answer.ok) throw new ApiError(answer.status, textOf(parsed, answer.status));
  return parsed;
};

/** The `data` of an answer; undefined where there is nothing (404). */
export const readData = async <Data>(session: Session, path: string): Promise<Data | undefined> => {
  try {
    return ((await callApi(session, 'GET', path)) as { data: Data }).data;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
};
