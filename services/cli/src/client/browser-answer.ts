/** Waits on the own machine for the browser that comes back from a provider of identities. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { guarded } from '@keelson/errors';
import { CliFailure } from './failure.ts';

const PORT = 8250;
const PATH = '/oidc/callback';
const WITHIN_MS = 5 * 60_000;

/** Where the browser returns to, which the role must allow. */
export const REDIRECT_URI = `http://localhost:${PORT}${PATH}`;

/**
 * Listens, and sends the user to the provider.
 * @param send called once the port is open
 * @returns the parameters that the browser brings back
 * @throws CliFailure when the port is in use, or nobody has come back in time
 */
export const awaitBrowser = async (send: () => Promise<void>): Promise<URLSearchParams> => {
  const come = Promise.withResolvers<URLSearchParams>();
  const server = createServer(
    guarded('cli/client', (request: IncomingMessage, response: ServerResponse) => {
      const [path, query = ''] = (request.url ?? '').split('?');
      const parameters = new URLSearchParams(query);
      const isAnswer = request.method === 'GET' && path === PATH && parameters.has('state');
      response
        .writeHead(isAnswer ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' })
        .end(isAnswer ? 'You may close this page and go back to the terminal.\n' : 'not found\n');
      if (isAnswer) come.resolve(parameters);
    }),
  );
  server.once('error', (error) =>
    come.reject(new CliFailure(`The port ${PORT} cannot be opened: ${error.message}.`)),
  );
  const timer = setTimeout(
    () => come.reject(new CliFailure('Nobody has come back from the browser in five minutes.')),
    WITHIN_MS,
  );
  try {
    const listening = new Promise<void>((resolve) => server.listen(PORT, 'localhost', resolve));
    // The port may be in use, and then nothing listens.
    await Promise.race([listening, come.promise]);
    await send();
    return await come.promise;
  } finally {
    clearTimeout(timer);
    server.close();
    server.closeAllConnections();
  }
};
