import { once } from 'node:events';
import { Agent, createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { systemClock } from '@keelson/clock';
import { temporaryDirectory } from '@keelson/testkit';
import { startGatewayProxy } from '@keelson/testkit/high-availability';
import { expect, test } from 'vitest';
import { startGateway, TOKEN } from '../../test/stub-services.ts';
import { openSelfIssuedCertificate } from '../compose.ts';

/** The load balancer asks every second. */
const DRAIN_MS = 2500;
const CLIENTS = 8;

const started = async () => {
  const gateway = await startGateway({}, undefined, {}, { drainMs: DRAIN_MS });
  return Object.assign(gateway, { [Symbol.asyncDispose]: gateway.stop });
};

test('behind a load balancer, gateways are replaced without losing a request', async () => {
  const first = await started();
  await using second = await started();
  await using proxy = await startGatewayProxy([first.http, second.http]);
  const address = `http://127.0.0.1:${proxy.port}`;
  const answers = new Map<string, number>();
  const over = new AbortController();
  const note = (told: string): void => void answers.set(told, (answers.get(told) ?? 0) + 1);
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  /** Not repeated by anybody: it may have taken effect. */
  const post = async (): Promise<string> => {
    const request = httpRequest(`${address}/v1/sys/echo`, {
      agent,
      method: 'POST',
      headers: { 'x-service-token': TOKEN },
    });
    request.end('{}');
    const [response] = await once(request, 'response');
    response.resume();
    await once(response, 'end');
    return String(response.statusCode);
  };
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!over.signal.aborted) note(await post().catch((error: Error) => error.message));
  });
  const stopping = first.stop();
  const ready = await fetch(`${first.http}/readyz`);
  expect([ready.status, ready.headers.get('connection')]).toEqual([503, 'close']);
  expect(await ready.json()).toMatchObject({ draining: true });
  await stopping;
  await expect(fetch(first.http)).rejects.toThrow('fetch failed');
  expect(await post()).toBe('200');
  over.abort();
  await Promise.all(clients);
  agent.destroy();
  expect([...answers.keys()]).toEqual(['200']);
});

test('a gateway that takes longer than a second to report its state keeps its requests', async () => {
  const checks = new EventTarget();
  const server = createServer((request, response) => {
    const answer = () => response.end('{"draining":false}');
    if (request.url !== '/readyz') return void answer();
    checks.dispatchEvent(new Event('check'));
    setTimeout(answer, DRAIN_MS);
  });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const first = once(checks, 'check');
  await using proxy = await startGatewayProxy([`http://127.0.0.1:${port}`]);
  await first;
  // The load balancer checks again when it has judged the first answer.
  await once(checks, 'check');
  expect((await fetch(`http://127.0.0.1:${proxy.port}/v1/sys/echo`)).status).toBe(200);
});

test('a gateway that hangs gets no more requests', async () => {
  await using other = await started();
  // Accepts connections and answers nothing, as a process that is stopped by a signal does.
  const server = createServer(() => undefined);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await using proxy = await startGatewayProxy([`http://127.0.0.1:${port}`, other.http]);
  await expect.poll(() => proxy.process.log).toContain('gateways/gateway0 is DOWN');
  const ask = () => fetch(`http://127.0.0.1:${proxy.port}/readyz`).then(({ status }) => status);
  expect(await Promise.all(Array.from({ length: 20 }, ask))).toEqual(
    Array.from({ length: 20 }, () => 200),
  );
});

test.for([
  ['http', undefined],
  ['https', undefined],
  ['https', 'http/1.1'],
  ['https', 'h2'],
] as const)(
  'a connection that was opened in advance, %s %s, does not delay the stop',
  // Less than the time after which remaining connections are ended in any case.
  { timeout: 15_000 },
  async ([scheme, protocol]) => {
    await using folder = await temporaryDirectory();
    const certificate = await openSelfIssuedCertificate({
      folder: folder.path,
      names: ['127.0.0.1'],
      clock: systemClock,
    });
    const gateway = await startGateway({}, certificate);
    const { port } = new URL(scheme === 'http' ? gateway.http : gateway.https);
    const to = { host: '127.0.0.1', port: Number(port) };
    const connection =
      protocol === undefined
        ? connect(to)
        : connectTls({ ...to, ALPNProtocols: [protocol], rejectUnauthorized: false });
    await once(connection, protocol === undefined ? 'connect' : 'secureConnect');
    connection.on('error', () => undefined);
    await expect(gateway.stop()).resolves.toBeUndefined();
    certificate.close();
    connection.destroy();
  },
);
