/** A client that opens more connections than the limit of open files leaves: the rest goes on, and says why. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  bundledProcess,
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MAIN = await bundledProcess('services/standalone/src/main.ts');
const FILES = 512;
/** Half of the files is kept, and two ports share the rest. */
const CONNECTIONS = FILES / 4;

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({
    dataFolder: folder.path,
    command: ['sh', '-c', `ulimit -n ${FILES}; exec "$0" "$1"`, process.execPath, MAIN],
    env: { KEELSON_LOG_FILE: '-' },
  });
});
afterAll(async () => {
  await keelson?.stop();
  await folder?.[Symbol.asyncDispose]();
});

test('connections beyond the limit are closed, which log, readiness and metrics tell', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (method: string, path: string, body = '') => {
    const headers = { 'x-service-token': keelson.rootToken };
    const sent = request(`${keelson.http}${path}`, { method, agent, headers }).end(body);
    const [answer] = await once(sent, 'response');
    return { status: answer.statusCode as number, text: await text(answer) };
  };
  expect((await ask('GET', '/readyz')).text).not.toContain('impaired');
  const { hostname, port } = new URL(keelson.http);
  const sockets: Socket[] = [];
  let closed = 0;
  for (let count = 0; count < FILES; count += 1) {
    const socket = connect({ host: hostname, port: Number(port) });
    socket
      .on('error', () => undefined)
      .once('close', () => {
        closed += 1;
      });
    sockets.push(socket);
  }
  await expect.poll(() => closed).toBe(FILES - CONNECTIONS + 1);

  const ready = await ask('GET', '/readyz');
  const fault = `connections are refused beyond ${CONNECTIONS} on each port, as the limit of open files is ${FILES}`;
  expect([ready.status, JSON.parse(ready.text)]).toEqual([
    200,
    expect.objectContaining({ impaired: { gateway: [expect.stringContaining(fault)] } }),
  ]);
  expect((await ask('GET', '/metrics')).text).toContain(
    `keelson_http_connections_refused_total ${FILES - CONNECTIONS + 1}`,
  );
  const policy = JSON.stringify({ policy: 'path "a" { capabilities = ["read"] }' });
  expect((await ask('POST', '/v1/sys/policies/acl/written', policy)).status).toBe(204);

  for (const socket of sockets) socket.destroy();
  await expect
    .poll(() =>
      fetch(`${keelson.http}/healthz`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  agent.destroy();
  // The output is complete when the process has ended.
  await keelson.stop();
  expect(keelson.output().split(fault)).toHaveLength(2);
});
