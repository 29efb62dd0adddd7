import { createRpcServer } from '@keelson/rpc';
import { registerEdgeContract } from '../edge.contract.ts';
import { connectEdge } from './connect-edge.ts';
import { createEdgeServer } from './edge-server.ts';

registerEdgeContract('through the edge stream', async (service) => {
  const server = await createRpcServer({
    address: '127.0.0.1:0',
    services: [createEdgeServer(service, [])],
  });
  const connected = connectEdge({ addresses: [`127.0.0.1:${server.port}`], service: 'echo' });
  return {
    edge: connected.edge,
    close: async () => {
      await connected.close();
      await server.stop();
    },
  };
});
