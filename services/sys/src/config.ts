import { composeConfig } from '@keelson/config';
import {
  electingSettings,
  processSettings,
  replicationSettings,
  servingSettings,
  storeSettings,
} from '@keelson/runtime';
import { Type } from 'typebox';

/** Settings of sys that hold in every mode. */
export const sysConfigSchema = Type.Object({
  unsealKeyFile: Type.Optional(
    Type.String({
      description:
        'File with the 32-byte key (base64) that opens the seal when the process starts; made at the first start when it is absent. After `sys/seal`, and without this setting, key shares open the seal.',
    }),
  ),
  clusterName: Type.String({
    description: 'Name the cluster gets when it is initialized.',
    default: 'keelson',
  }),
  compatibleVersion: Type.String({
    description:
      'Version that health, seal status and nodes show to requests with a header of the vendor: its clients switch features by it. Other requests see that of Keelson.',
    pattern: '^\\d+\\.\\d+\\.\\d+([-+][0-9A-Za-z.+-]+)?$',
    default: '1.21.0+ent',
  }),
  maxTokenTtlSeconds: Type.Integer({
    description: 'Default and longest life of tokens and leases that no mount or role tunes.',
    minimum: 60,
    default: 768 * 3600,
  }),
});

export type SysConfig = Readonly<Type.Static<typeof sysConfigSchema>>;

/** What the service in a process of its own is told besides. */
export const sysProcessConfig = composeConfig(
  sysConfigSchema,
  servingSettings,
  storeSettings,
  electingSettings,
  Type.Object({
    pkiAddresses: Type.Array(Type.String(), {
      description: 'host:port of the pki service; a DNS name stands for all its replicas.',
      default: ['pki:9000'],
    }),
    workspaceAddresses: Type.Array(Type.String(), {
      description: 'host:port of the workspace service; a DNS name stands for all its replicas.',
      default: ['workspace:9000'],
    }),
    internalCaFile: Type.String({
      description: 'Key and certificate of the internal CA, PEM: internal-ca.pem.',
    }),
  }),
  replicationSettings,
  processSettings,
);
