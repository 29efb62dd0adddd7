import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startFaultProxy } from './fault-proxy.ts';

const startEcho = async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise<void>((closed) => void server.close(() => closed())),
  };
};

const received = async (socket: Socket, length: number): Promise<string> => {
  let text = '';
  while (text.length < length) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text += chunk.toString();
  }
  return text;
};

test('forwards bytes in order, whatever the delays', async () => {
  await using echo = await startEcho();
  await using proxy = await startFaultProxy(echo.port);
  const socket = connect(proxy.port, '127.0.0.1');
  const answer = received(socket, 3);
  await once(socket, 'connect');
  proxy.delay(50);
  socket.write('1');
  await new Promise((written) => socket.write('2', written));
  proxy.pass();
  socket.write('3');
  expect(await answer).toBe('123');
  socket.destroy();
});

test('a delay holds in both directions', async () => {
  await using echo = await startEcho();
  await using proxy = await startFaultProxy(echo.port);
  proxy.delay(25);
  const socket = connect(proxy.port, '127.0.0.1');
  const startMs = performance.now();
  socket.write('1');
  await received(socket, 1);
  // Timers may fire a millisecond early, never more.
  expect(performance.now() - startMs).toBeGreaterThan(48);
  socket.destroy();
});

test('withholds everything while stalled and loses nothing', async () => {
  await using echo = await startEcho();
  await using proxy = await startFaultProxy(echo.port);
  const socket = connect(proxy.port, '127.0.0.1');
  const direct = connect(echo.port, '127.0.0.1');
  socket.write('1');
  expect(await received(socket, 1)).toBe('1');
  proxy.stall();
  let arrived = '';
  socket.on('data', (chunk: Buffer) => {
    arrived += chunk.toString();
  });
  socket.write('2');
  for (let round = 0; round < 20; round++) {
    direct.write('x');
    await received(direct, 1);
  }
  expect(arrived).toBe('');
  const answer = received(socket, 2);
  proxy.pass();
  socket.write('3');
  expect(await answer).toBe('23');
  socket.destroy();
  direct.destroy();
});

test('cuts connections, refuses new ones, and forwards again', async () => {
  await using echo = await startEcho();
  await using proxy = await startFaultProxy(echo.port);
  const socket = connect(proxy.port, '127.0.0.1');
  socket.write('1');
  await received(socket, 1);
  expect(proxy.connectionCount).toBe(1);
  proxy.cut();
  await expect(once(socket, 'data')).rejects.toMatchObject({ code: 'ECONNRESET' });
  const refused = connect(proxy.port, '127.0.0.1');
  await expect(once(refused, 'data')).rejects.toMatchObject({ code: 'ECONNRESET' });
  proxy.pass();
  const again = connect(proxy.port, '127.0.0.1');
  again.write('2');
  expect(await received(again, 1)).toBe('2');
  again.destroy();
});
