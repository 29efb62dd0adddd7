import { composeConfig } from '@keelson/config';
import { gatewayConfig } from '@keelson/gateway-service';
import { pkiConfigSchema } from '@keelson/pki-service';
import { processSettings, replicationSettings, storeSettings } from '@keelson/runtime';
import { sysConfigSchema } from '@keelson/sys-service';
import { workspaceConfigSchema } from '@keelson/workspace-service';
import { Type } from 'typebox';

/** What a control plane in one process is told: the settings of its parts, and where it keeps things. */
export const standaloneConfig = composeConfig(
  Type.Object({
    dataDir: Type.String({
      description: 'Folder of everything that is kept; one process at a time.',
      default: './data',
    }),
    logFile: Type.Optional(
      Type.String({
        description:
          'File that log lines are added to; "-" for standard output. Not set: keelson.log in the data folder.',
      }),
    ),
    tlsNames: Type.Array(Type.String(), {
      description:
        'Host names and IP addresses of the certificate that Keelson issues to itself when it is given none.',
      default: ['localhost', '127.0.0.1', '::1'],
    }),
  }),
  storeSettings,
  replicationSettings,
  gatewayConfig,
  sysConfigSchema,
  pkiConfigSchema,
  workspaceConfigSchema,
  processSettings,
);
