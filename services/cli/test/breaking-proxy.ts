/** An HTTP proxy for tests. It breaks the connection of the first recognized request, and all later ones. */
import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface BreakingProxy extends AsyncDisposable {
  readonly url: string;
}

/** @param breaksAt recognizes "METHOD path" */
export const startBreakingProxy = async (
  upstream: string,
  breaksAt: (request: string) => boolean,
): Promise<BreakingProxy> => {
  let isBroken = false;
  const server = createServer((request, response) => {
    isBroken ||= breaksAt(`${request.method} ${request.url}`);
    if (isBroken) {
      request.socket.destroy();
      return;
    }
    const { method, headers } = request;
    const onward = forward(new URL(request.url ?? '', upstream), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
