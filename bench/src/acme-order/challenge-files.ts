/**
 * The web server that proves names, as small as HTTP allows: it runs next to the clients and must
 * take as little CPU as possible, because Pebble requests each file three times.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

interface ProofFile {
  readonly content: string;
  readonly asked: PromiseWithResolvers<void>;
}

const MAX_REQUEST_CHARACTERS = 16_384;
const files = new Map<string, ProofFile>();

const answer = (socket: Socket, request: string): void => {
  const path = request.slice(0, request.indexOf(' HTTP/'));
  const file = files.get(path.slice(path.lastIndexOf('/') + 1));
  const content = file?.content ?? '';
  const status = file === undefined ? '404 Not Found' : '200 OK';
  socket.end(
    `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: ${content.length}\r\n\r\n${content}`,
  );
  file?.asked.resolve();
};

/** @returns the port */
export const serveFiles = async (): Promise<number> => {
  const server = createServer((socket) => {
    let request = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      request += chunk;
      if (request.includes('\r\n\r\n')) answer(socket, request);
      else if (request.length > MAX_REQUEST_CHARACTERS) socket.destroy();
    });
    // The peer may disconnect once it has read enough.
    socket.on('error', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

/** Serves a file; resolves when it is requested. */
export const putFile = (token: string, content: string): Promise<void> => {
  const asked = Promise.withResolvers<void>();
  files.set(token, { content, asked });
  return asked.promise;
};

export const removeFile = (token: string): void => {
  files.delete(token);
};
