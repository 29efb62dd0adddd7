import { createEdgeServer } from '@keelson/edge/stream';
import { AccessDefinition } from '@keelson/proto/sys/v1/access';
import { createRpcServer } from '@keelson/rpc';
import { answerCommands } from '../child-process.ts';
import { echoService } from './echo-service.ts';
import { openAccess } from './open-access.ts';

const server = await createRpcServer({
  address: '127.0.0.1:0',
  services: [createEdgeServer(echoService, [[AccessDefinition, openAccess]])],
});

answerCommands({ port: () => server.port });
