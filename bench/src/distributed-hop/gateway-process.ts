/** The real gateway in front of one service, held directly or reached through the edge stream. */

import { systemClock } from '@keelson/clock';
import { parseConfig } from '@keelson/config';
import { connectEdge } from '@keelson/edge/stream';
import { composeGateway } from '@keelson/gateway-service';
import { gatewayConfig } from '@keelson/gateway-service/config';
import { createLogger } from '@keelson/logging';
import { createRegistry } from '@keelson/metrics';
import { AccessDefinition } from '@keelson/proto/sys/v1/access';
import type { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import type { RpcService } from '@keelson/rpc';
import { stubService } from '@keelson/testkit';
import { answerCommands } from '../child-process.ts';
import { echoService } from './echo-service.ts';
import { openAccess } from './open-access.ts';

/** @param port of the service; undefined if it runs in this process */
const start = async (port: number | null): Promise<string> => {
  const connected =
    port === null ? undefined : connectEdge({ addresses: [`127.0.0.1:${port}`], service: 'pki' });
  const service = connected?.edge ?? echoService;
  const gateway = composeGateway({
    registry: createRegistry('test'),
    config: parseConfig(gatewayConfig, { KEELSON_HTTP_PORT: '0' }),
    clock: systemClock,
    logger: createLogger({ name: 'bench', level: 'error' }),
    services: { sys: service, workspace: service, pki: service, auth: service },
    access: connected?.client(AccessDefinition) ?? openAccess,
    identity: stubService<RpcService<typeof IdentityDefinition>>({
      identify: () => Promise.resolve({ principal: undefined }),
    }),
  });
  const { addresses } = await gateway.start();
  return addresses[0] as string;
};

answerCommands({ start });
