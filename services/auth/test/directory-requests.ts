/** A proxy before a directory, which reads the requests of its clients (RFC 4511). */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

const REQUESTS: Readonly<Record<number, string>> = { 0x60: 'bind', 0x63: 'search' };

/** The sizes of the tag with the length that follows it, and of the content. */
const sizesOf = (bytes: Buffer): readonly [head: number, content: number] => {
  const [, first = 0] = bytes;
  const more = first < 0x80 ? 0 : first & 0x7f;
  return [2 + more, more === 0 ? first : bytes.readUIntBE(2, more)];
};

/** @param port of a directory on this machine */
export const recordRequests = async (port: number) => {
  const requests: string[] = [];
  const server = createServer((client) => {
    const directory = connect(port, '127.0.0.1');
    for (const socket of [client, directory]) socket.on('error', () => undefined);
    directory.pipe(client);
    let pending = Buffer.alloc(0);
    client.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length > 1) {
        const [head, content] = sizesOf(pending);
        if (pending.length < head + content) break;
        const message = pending.subarray(head, head + content);
        // The id of the message comes before the request.
        const [idHead, id] = sizesOf(message);
        const request = REQUESTS[message[idHead + id] ?? 0];
        if (request !== undefined) requests.push(request);
        pending = pending.subarray(head + content);
      }
      directory.write(chunk);
    });
    client.once('close', () => directory.end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      server.close();
      await once(server, 'close');
    },
  };
};
