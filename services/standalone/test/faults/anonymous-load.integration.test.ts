/** The memory that callers without a token can make the process take. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let keelson: KeelsonProcess;
let folder: TemporaryDirectory;
beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({ dataFolder: folder.path });
});
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
});

const MIB = 1024 * 1024;

/** The most that the process ever had in memory. */
const peakMegabytes = (): number => {
  const status = readFileSync(`/proc/${keelson.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
};

/** The present memory of the process. */
const presentMegabytes = (): number => {
  const status = readFileSync(`/proc/${keelson.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
};

/** Sends 29 MiB of a longer body, as fast as it is taken. @returns the status line of the answer */
const send = async (path: string, from: string, framing: string): Promise<string> => {
  const { port, hostname } = new URL(keelson.http);
  const socket = connect({ port: Number(port), host: hostname, localAddress: from });
  let answer = '';
  socket.on('data', (data: Buffer) => {
    answer += data.toString('latin1');
  });
  // It may be closed while bytes are on their way.
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => {
    socket.once('close', resolve);
  });
  const isChunked = framing.includes('chunked');
  socket.write(`POST ${path} HTTP/1.1\r\nhost: h\r\n${framing}\r\n\r\n`);
  for (let sent = 0; sent < 29 && !socket.destroyed; sent++) {
    const piece = Buffer.alloc(MIB, 'x');
    const isTaken = socket.write(
      isChunked ? Buffer.concat([Buffer.from('100000\r\n'), piece, Buffer.from('\r\n')]) : piece,
    );
    if (isTaken) continue;
    const drained = new Promise((resolve) => {
      socket.once('drain', resolve);
    });
    await Promise.race([drained, closed]);
  }
  await closed;
  return answer.split('\r\n', 1)[0] ?? '';
};

test.for([
  ['announced', `content-length: ${30 * MIB}`],
  ['in chunks', 'transfer-encoding: chunked'],
] as const)('sixty bodies of 30 MB, %s, take less than 300 MB', async ([, framing]) => {
  const idle = peakMegabytes();
  const sent = Array.from({ length: 60 }, (_, index) =>
    send('/v1/sys/unseal', `127.0.0.${1 + (index % 8)}`, framing),
  );
  // A connection that is reset loses the answer on its way.
  for (const answer of await Promise.all(sent))
    expect(answer).toMatch(/^(HTTP\/1\.1 413 .*|HTTP\/1\.1 503 .*|)$/);
  expect(peakMegabytes() - idle).toBeLessThan(300);
  expect((await fetch(`${keelson.http}/healthz`)).status).toBe(200);
});

test('two thousand connections with unfinished heads leave room for others, take less than 300 MB, and end', {
  timeout: 60_000,
}, async () => {
  const idle = peakMegabytes();
  const { port, hostname } = new URL(keelson.http);
  let open = 0;
  let closed = 0;
  const ended = Array.from({ length: 2000 }, () => {
    const socket = connect({ port: Number(port), host: hostname, localAddress: '127.0.0.2' });
    socket.on('error', () => undefined).resume();
    socket.on('connect', () => {
      open += 1;
      socket.write(`GET / HTTP/1.1\r\nhost: h\r\nx-filler: ${'x'.repeat(30_000)}`);
    });
    return new Promise<void>((resolve) => {
      socket.on('close', () => {
        closed += 1;
        resolve();
      });
    });
  });
  // Connections beyond the 1,024 of one address are closed immediately; another address gets a response.
  while (open < 2000 || closed < 976) await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await fetch(`${keelson.http}/healthz`)).status).toBe(200);
  expect((await fetch(`${keelson.http}/v1/sys/health`)).status).toBe(200);
  // The other connections are closed as their request heads do not arrive in time.
  await Promise.all(ended);
  expect(peakMegabytes() - idle).toBeLessThan(300);
  expect((await fetch(`${keelson.http}/healthz`)).status).toBe(200);
});

/** Begins 100 requests on one connection of HTTP/2 and a body of each. @returns the number that was answered */
const beginRequests = async (): Promise<number> => {
  const session = connectHttp2(keelson.https, { rejectUnauthorized: false });
  session.on('error', () => undefined);
  let answered = 0;
  const head = { ':method': 'POST', ':path': '/v1/sys/unseal', 'content-length': '200000' };
  for (let sent = 0; sent < 100; sent++) {
    const stream = session.request(head);
    stream.on('error', () => undefined).on('response', () => (answered += 1));
    stream.resume().write('x');
  }
  // An answer to this comes after the frames that answer the requests.
  const reached = Promise.withResolvers<void>();
  session.once('close', () => reached.resolve());
  session.once('connect', () => session.ping(() => session.ping(() => reached.resolve())));
  await reached.promise;
  sessions.push(session);
  return answered;
};
const sessions: ReturnType<typeof connectHttp2>[] = [];
const CONNECTIONS = 100;

const requestsUnderWay = async (): Promise<number> => {
  const metrics = await (await fetch(`${keelson.http}/metrics`)).text();
  return Number(/^keelson_http_requests_under_way (\d+)$/m.exec(metrics)?.[1]);
};

test('a hundred unfinished requests on each of many connections of HTTP/2 take less than 300 MB, and give their places and memory back', {
  timeout: 120_000,
}, async () => {
  const idle = presentMegabytes();
  for (let begun = 0; begun < CONNECTIONS; begun += 10)
    await Promise.all(Array.from({ length: 10 }, beginRequests));
  expect(await requestsUnderWay()).toBeLessThanOrEqual(1024);
  expect(presentMegabytes() - idle).toBeLessThan(300);
  const ended = sessions.map((session) => once(session, 'close'));
  for (const session of sessions) session.destroy();
  await Promise.all(ended);
  await expect.poll(requestsUnderWay).toBe(0);
  // Memory is given back to the system at an unknown time.
  await expect.poll(() => presentMegabytes() - idle, { timeout: 30_000 }).toBeLessThan(50);
  expect((await fetch(`${keelson.http}/v1/sys/health`)).status).toBe(200);
});
