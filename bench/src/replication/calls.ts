/** Calls over connections that stay open, with as little work of the caller's as Node allows. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface Called {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

export interface Caller {
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Called>;
  close(): void;
}

/** @param base "http://HOST:PORT/v1" */
export const openCaller = (base: string, token: string, connections: number): Caller => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    call: (method, path, body, headers = {}) =>
      new Promise((resolve, reject) => {
        const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
        const sent = request(
          `${base}/${path}`,
          {
            method,
            agent,
            headers: {
              'x-service-token': token,
              ...(bytes !== undefined && { 'content-length': bytes.length }),
              ...headers,
            },
          },
          (response) => {
            const { statusCode: status = 0, headers: received } = response;
            response.resume().once('end', () => resolve({ status, headers: received }));
          },
        );
        sent.once('error', reject).end(bytes);
      }),
    close: () => agent.destroy(),
  };
};
