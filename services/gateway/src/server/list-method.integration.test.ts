import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, TOKEN } from '../../test/stub-services.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

interface Sent {
  readonly method: string;
  readonly body: string;
  readonly chunked: boolean;
}

const toBytes = ({ method, body, chunked }: Sent, index: number, last: boolean): string => {
  const framing =
    body === ''
      ? ''
      : chunked
        ? 'transfer-encoding: chunked\r\n'
        : `content-length: ${body.length}\r\n`;
  const content =
    body !== '' && chunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
  return (
    `${method} /v1/pki/echo HTTP/1.1\r\nhost: h\r\nx-service-token: ${TOKEN}\r\n` +
    `x-request-id: r${index}\r\n${framing}${last ? 'connection: close\r\n' : ''}\r\n${content}`
  );
};

/** Writes the pieces in one packet each, as far as the machine lets them; returns all that came back. */
const converse = async (pieces: readonly Buffer[]): Promise<string> => {
  const socket = connect(gateway.port, '127.0.0.1');
  socket.setNoDelay(true);
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
  });
  await once(socket, 'connect');
  for (const piece of pieces) {
    if (!socket.writable) break;
    await new Promise((resolve) => {
      socket.write(piece, resolve);
    });
    await new Promise(setImmediate);
  }
  if (!socket.closed) await once(socket, 'close');
  return answer;
};

const splitAt = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const points = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
  return [0, ...points].map((from, index) => bytes.subarray(from, points[index] ?? bytes.length));
};

const answersOf = (text: string): { requestId: string; method: string; byteLength: number }[] =>
  [...text.matchAll(/\r\n\r\n(\{.*?\}\}\}|\{.*?\}\})(?=HTTP|$)/gs)].map(([, body]) => {
    const { request_id: requestId, data } = JSON.parse(body ?? '') as {
      request_id: string;
      data: { method: string; byteLength: number };
    };
    return { requestId, method: data.method, byteLength: data.byteLength };
  });

describe('LIST as a method', () => {
  test('is answered with any neighbouring requests and however the bytes are split', async () => {
    const sent = fc.record({
      method: fc.constantFrom('LIST', 'LIST', 'GET', 'POST', 'PUT', 'DELETE'),
      body: fc.constantFrom('', '', 'x', 'LIST / HTTP/1.1\r\n\r\n', 'a'.repeat(300)),
      chunked: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(sent, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        async (requests, cuts) => {
          const bytes = Buffer.from(
            requests.map((one, i) => toBytes(one, i, i === requests.length - 1)).join(''),
          );
          const answers = answersOf(await converse(splitAt(bytes, cuts)));
          expect(answers).toEqual(
            requests.map(({ method, body }, index) => ({
              requestId: `r${index}`,
              method,
              byteLength: body.length,
            })),
          );
        },
      ),
      { numRuns: 150 },
    );
  });

  test('is answered when every byte arrives separately', async () => {
    const bytes = Buffer.from(toBytes({ method: 'LIST', body: '', chunked: false }, 0, true));
    const answers = answersOf(await converse([...bytes].map((byte) => Buffer.from([byte]))));
    expect(answers).toMatchObject([{ requestId: 'r0', method: 'LIST' }]);
  });

  test.for(['LISX', 'LOST', 'LISTX', 'LI ', 'list'])(
    'does not mistake %s for LIST',
    async (method) => {
      const bytes = Buffer.from(`${method} /v1/pki/echo HTTP/1.1\r\nhost: h\r\n\r\n`);
      for (const pieces of [[bytes], [bytes.subarray(0, 2), bytes.subarray(2)]])
        expect(await converse(pieces)).toMatch(/^HTTP\/1.1 400 /);
    },
  );

  test('still refuses LINK, which represents it internally', async () => {
    const list = toBytes({ method: 'LIST', body: '', chunked: false }, 0, false);
    const link = toBytes({ method: 'LINK', body: '', chunked: false }, 1, true);
    const answer = await converse([Buffer.from(list + link)]);
    expect(answer).toMatch(/^HTTP\/1.1 200 [^]*HTTP\/1.1 405 /);
  });

  test('is not served on a connection the client asked to close before', async () => {
    const first = toBytes({ method: 'GET', body: '', chunked: false }, 0, true);
    const list = toBytes({ method: 'LIST', body: '', chunked: false }, 1, false);
    expect(answersOf(await converse([Buffer.from(first + list)]))).toHaveLength(1);
  });

  test('means the same as GET with list=true', async () => {
    const headers = { 'x-vault-token': TOKEN };
    const response = await fetch(`${gateway.http}/v1/pki/echo?list=true`, { headers });
    expect(await response.json()).toMatchObject({ data: { method: 'LIST' } });
    expect((await fetch(`${gateway.http}/v1/pki/echo?list=maybe`, { headers })).status).toBe(400);
  });
});
