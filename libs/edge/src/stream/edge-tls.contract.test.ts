/** The edge stream over mTLS: who may open one, and certificate renewal while streams are open. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { systemClock } from '@keelson/clock';
import {
  createRpcServer,
  type InternalIssuer,
  openInternalIssuer,
  type RenewedIdentity,
  type RpcServer,
  type ServiceName,
} from '@keelson/rpc';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { edgeRequest, readAll, serviceOf } from '../edge.contract.ts';
import { edgeResponse } from '../edge-service.ts';
import { type ConnectedEdge, connectEdge } from './connect-edge.ts';
import { createEdgeServer } from './edge-server.ts';

let folder: string;
let issuer: InternalIssuer;
let server: RpcServer;
const kept: RenewedIdentity[] = [];
const connections: ConnectedEdge[] = [];
const proceed = Promise.withResolvers<void>();

const identityOf = async (service: ServiceName) => {
  const one = await issuer.identityOf(service);
  kept.push(one);
  return one.identity;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keelson-edge-tls-'));
  const bootstrap = new URL('./internal-issuer/main.ts', import.meta.resolve('@keelson/rpc'));
  await promisify(execFile)(process.execPath, [fileURLToPath(bootstrap), folder]);
  issuer = await openInternalIssuer({
    file: join(folder, 'sys', 'internal-ca.pem'),
    clock: systemClock,
    report: (error) => {
      throw error;
    },
  });
  const service = serviceOf(async ({ head }) => {
    if (head.path === '/long') await proceed.promise;
    return edgeResponse(200, {}, Buffer.from(head.path));
  });
  server = await createRpcServer({
    address: '127.0.0.1:0',
    tls: await identityOf('pki'),
    services: [createEdgeServer(service, [])],
  });
});
afterAll(async () => {
  for (const one of kept) one.stop();
  await Promise.all(connections.map((connection) => connection.close()));
  await server.stop(0);
  await rm(folder, { recursive: true });
});

const connectAs = async (caller: ServiceName, service: ServiceName = 'pki') => {
  const tls = await identityOf(caller);
  const connected = connectEdge({ addresses: [`localhost:${server.port}`], service, tls });
  connections.push(connected);
  return { ...connected, tls };
};

test('the gateway may open streams, and keeps them when its certificate changes', async () => {
  const { edge, tls } = await connectAs('gateway');
  const long = edge.handle(edgeRequest({ method: 'POST', path: '/long' }));
  const first = await edge.handle(edgeRequest({ path: '/first' }));
  expect((await readAll(first.body)).toString()).toBe('/first');
  tls.replace((await identityOf('gateway')).material);
  proceed.resolve();
  expect((await readAll((await long).body)).toString()).toBe('/long');
});

test('another service may not open a stream', async () => {
  const { edge } = await connectAs('workspace');
  await expect(edge.handle(edgeRequest())).rejects.toMatchObject({
    code: 'edge.backend_unavailable',
  });
});

test('the gateway does not connect to a service with an unexpected identity', async () => {
  const { edge } = await connectAs('gateway', 'workspace');
  await expect(edge.handle(edgeRequest())).rejects.toMatchObject({
    code: 'edge.backend_unavailable',
    params: { service: 'workspace' },
  });
});
