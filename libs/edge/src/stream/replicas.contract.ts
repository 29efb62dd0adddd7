/** Replicas of a service for tests, and clients of them, which end with the test. */

import type { ManualClock } from '@keelson/clock';
import { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import { createRpcServer, type RpcServer, type RpcService } from '@keelson/rpc';
import { stubService } from '@keelson/testkit';
import { expect, onTestFinished } from 'vitest';
import { serviceOf } from '../edge.contract.ts';
import type { EdgeService } from '../edge-service.ts';
import { type ConnectedEdge, connectEdge, type EveryReplica } from './connect-edge.ts';
import { createEdgeServer } from './edge-server.ts';

const clients: ConnectedEdge[] = [];
const servers: RpcServer[] = [];

/** The servers first: a client waits for its open requests. */
const end = async (): Promise<void> => {
  await Promise.all(servers.splice(0).map((server) => server.stop(0)));
  await Promise.all(clients.splice(0).map((client) => client.close()));
};

/** Starts a replica. */
export const serve = async (
  handle: EdgeService['handle'],
  identity?: Partial<RpcService<typeof IdentityDefinition>>,
  address = '127.0.0.1:0',
): Promise<RpcServer> => {
  const server = await createRpcServer({
    address,
    services: [
      identity
        ? createEdgeServer(serviceOf(handle), [
            [IdentityDefinition, stubService<RpcService<typeof IdentityDefinition>>(identity)],
          ])
        : createEdgeServer(serviceOf(handle), []),
    ],
  });
  servers.push(server);
  onTestFinished(end);
  return server;
};

/** Connects to replicas by their ports. */
export const connect = (
  ports: readonly number[],
  clock?: ManualClock,
  everyReplica?: EveryReplica,
): ConnectedEdge => {
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  const client = connectEdge({ addresses, service: 'pki', ...(clock && { clock }) }, everyReplica);
  clients.push(client);
  onTestFinished(end);
  return client;
};

/** Resolves once so many streams are ready. */
export const ready = async (client: ConnectedEdge, count: number): Promise<void> => {
  await expect
    .poll(() => client.status.filter(({ state }) => state === 'ready').length)
    .toBe(count);
};
