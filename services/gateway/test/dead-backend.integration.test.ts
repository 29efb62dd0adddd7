/** A service in another process that is down: each surface names the one that cannot be reached. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { connectEdge } from '@keelson/edge/stream';
import { AccessDefinition } from '@keelson/proto/sys/v1/access';
import { createRpcClient } from '@keelson/rpc';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_TOKEN, startGateway, TOKEN } from './stub-services.ts';

type Gateway = Awaited<ReturnType<typeof startGateway>>;
let gateway: Gateway;
let gone: readonly ReturnType<typeof connectEdge>[];

/** A port on which nothing listens any more. */
const deadAddress = async (): Promise<string> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return `127.0.0.1:${port}`;
};

beforeAll(async () => {
  const addresses = [await deadAddress()];
  const pki = connectEdge({ service: 'pki', addresses });
  const workspace = connectEdge({ service: 'workspace', addresses });
  gone = [pki, workspace];
  gateway = await startGateway({}, undefined, { pki: pki.edge, workspace: workspace.edge });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(gone.map((one) => one.close()));
});

const ask = async (path: string, headers: Record<string, string> = {}, asked = gateway) => {
  const response = await fetch(asked.http + path, { headers });
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    document: (await response.json()) as unknown,
  };
};

test('on /v1', async () => {
  expect(await ask('/v1/pki/echo', { 'x-service-token': TOKEN })).toEqual({
    status: 503,
    retryAfter: '1',
    document: { errors: ['the pki service cannot be reached'] },
  });
});

test('on /api/v2', async () => {
  expect(await ask('/api/v2/echo', { authorization: `Bearer ${API_TOKEN}` })).toEqual({
    status: 503,
    retryAfter: '1',
    document: {
      errors: [
        {
          status: '503',
          title: 'service unavailable',
          detail: 'the workspace service cannot be reached',
        },
      ],
    },
  });
});

test('on every surface, if it is sys, which decides about each request', async () => {
  const access = createRpcClient(AccessDefinition, {
    service: 'sys',
    address: await deadAddress(),
  });
  const withoutSys = await startGateway({}, undefined, {}, { access });
  const gone = { status: 503, retryAfter: '1' };
  const text = 'the sys service cannot be reached';
  expect(await ask('/v1/pki/echo', { 'x-service-token': TOKEN }, withoutSys)).toEqual({
    ...gone,
    document: { errors: [text] },
  });
  const authorization = `Bearer ${API_TOKEN}`;
  expect(await ask('/api/v2/echo', { authorization }, withoutSys)).toMatchObject({
    ...gone,
    document: { errors: [{ detail: text }] },
  });
  await withoutSys.stop();
  access.close();
});

/** A connection that is not refused at once takes longer than a probe waits. */
const WITHOUT_ANSWER = /cannot be reached|no answer within/;

test('on /readyz, while other services are served', async () => {
  expect(await ask('/readyz')).toMatchObject({
    status: 503,
    document: {
      services: { sys: true, pki: false, workspace: false },
      reasons: {
        pki: expect.stringMatching(WITHOUT_ANSWER) as string,
        workspace: expect.stringMatching(WITHOUT_ANSWER) as string,
      },
    },
  });
  expect((await ask('/v1/sys/echo', { 'x-service-token': TOKEN })).status).toBe(200);
});

test('to sys/health, which answers with a code of its own', async () => {
  const { document } = await ask('/v1/sys/sys/health', { 'x-service-token': TOKEN });
  expect(document).toMatchObject({
    data: { head: { headers: { 'x-unavailable-services': 'workspace,pki' } } },
  });
});
