import { authConfigSchema } from '@keelson/auth-service/config';
import { composeConfig } from '@keelson/config';
import { gatewayConfig } from '@keelson/gateway-service/config';
import { pkiConfigSchema } from '@keelson/pki-service/config';
import { ownRunnerSettings, runnerSettings } from '@keelson/runner-service/config';
import { processSettings, replicationSettings, storeSettings } from '@keelson/runtime';
import { sysConfigSchema } from '@keelson/sys-service/config';
import { workspaceConfigSchema } from '@keelson/workspace-service/config';
import { Type } from 'typebox';

/** Settings of a control plane in one process: those of its services, and its data folder, log and names. */
export const standaloneConfig = composeConfig(
  Type.Object(
    {
      dataDir: Type.String({
        description: 'Folder of all data; one process at a time.',
        default: './data',
      }),
      logFile: Type.Optional(
        Type.String({
          description:
            'Log file; "-" for standard output. Not set: keelson.log in the data folder.',
        }),
      ),
      acceptLostCommits: Type.Array(Type.String({ pattern: '^(sys|pki|workspace|auth):[0-9]+$' }), {
        description:
          'Stores that may have lost commits, for one start: the refusal to start shows the value, such as workspace:120, which is true only for the file as it is. It has no effect on a store that lost nothing.',
        default: [],
      }),
      workers: Type.Optional(
        Type.Integer({
          description:
            'Threads that serve requests, which share the cache memory and the limits of all clients together; limits of one client count in each of them. Not set: one fewer than the machine has processors, at least 1 and at most 4.',
          minimum: 1,
          maximum: 16,
        }),
      ),
      tlsNames: Type.Array(Type.String(), {
        description:
          "Host names and IP addresses in Keelson's own certificate, which it issues if none is configured.",
        default: ['localhost', '127.0.0.1', '::1'],
      }),
    },
    { title: 'Data folder and log' },
  ),
  storeSettings,
  replicationSettings,
  gatewayConfig,
  sysConfigSchema,
  pkiConfigSchema,
  workspaceConfigSchema,
  authConfigSchema,
  ownRunnerSettings,
  runnerSettings,
  processSettings,
);
