/** A text of the server about one field of a request; `field` is undefined if it is about the whole. */
export interface FieldFault {
  readonly field: string | undefined;
  readonly text: string;
}

/** An answer with an error status; `message` holds the server's texts. */
export class ApiProblem extends Error {
  readonly status: number;
  /** The same texts one by one, where the server says to which fields they belong. */
  readonly faults: readonly FieldFault[];
  constructor(status: number, message: string, faults: readonly FieldFault[] = []) {
    super(message);
    this.status = status;
    this.faults = faults;
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/**
 * `fetch` that retries a read once when no response came: browsers drop requests in progress when the
 * machine's network changes.
 * @throws {ApiProblem} with status 0 when the server cannot be reached
 */
export const request = async (url: string, init: RequestInit): Promise<Response> => {
  const send = (): Promise<Response> => fetch(url, { cache: 'no-store', ...init });
  const isRead = init.method === undefined || init.method === 'GET';
  try {
    return await send();
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    if (isRead) {
      try {
        return await send();
      } catch {
        // Reported below.
      }
    }
    throw new ApiProblem(0, 'The server cannot be reached.');
  }
};

/** The JSON of an answer; undefined for an answer without a body. */
export const parsedBody = async (answer: Response): Promise<unknown> => {
  const text = await answer.text();
  return text === '' ? undefined : JSON.parse(text);
};
