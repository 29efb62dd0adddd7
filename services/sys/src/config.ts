import { composeConfig } from '@keelson/config';
import { objectStorageSettings } from '@keelson/objects';
import {
  electingSettings,
  processSettings,
  publicAddressSettings,
  replicationSettings,
  servingSettings,
  storeSettings,
} from '@keelson/runtime';
import { Type } from 'typebox';
import type { LeaseTtls } from './mounts/domain/lease-ttl.ts';

const ownSettings = Type.Object(
  {
    unsealKeyFile: Type.Optional(
      Type.String({
        secretFile: true,
        description:
          'File with the 32-byte key (base64) that opens the seal when the process starts; created at the first start, replaced by `sys/rotate/unseal-key`. After `sys/seal`, and without this setting, key shares are required.',
      }),
    ),
    clusterName: Type.String({
      description: 'Name given to the cluster when it is initialized.',
      default: 'keelson',
    }),
    ceremoniesWithoutToken: Type.Boolean({
      description:
        'Whether key shares alone authorise `sys/generate-root`, `sys/rekey`, `sys/rekey-recovery-key` and the operation token of a DR secondary. If false, these routes also need a token with sudo.',
      default: true,
    }),
    corruptionCheckHours: Type.Integer({
      description:
        'Time between two comparisons of the records of all stores with their Merkle trees. Requests go on meanwhile. 0: only when asked for (`sys/replication/merkle-check`).',
      minimum: 0,
      maximum: 8760,
      default: 24,
    }),
    compatibleVersion: Type.String({
      description:
        "Version shown to requests with a vendor header, because the vendor's clients enable features by it. Other requests see Keelson's version.",
      pattern: '^\\d+\\.\\d+\\.\\d+([-+][0-9A-Za-z.+-]+)?$',
      default: '1.21.0+ent',
    }),
    maxTokenTtlSeconds: Type.Integer({
      description:
        'Default and maximum lifetime of tokens and leases without tuning by a mount or role.',
      minimum: 60,
      default: 768 * 3600,
    }),
    grafanaUrl: Type.Optional(
      Type.String({
        description:
          'Address of a Grafana dashboard of this cluster, which the console offers with its own charts. Not set: none.',
        pattern: '^https?://[^\\s@]+$',
        maxLength: 2000,
      }),
    ),
  },
  { title: 'Seal and tokens' },
);

const backupSettings = Type.Object(
  {
    backupEverySeconds: Type.Optional(
      Type.Integer({
        description: 'Time between two snapshots that sys stores by itself. Not set: none.',
        minimum: 60,
        maximum: 31 * 86_400,
      }),
    ),
    backupFolder: Type.Optional(
      Type.String({
        description:
          'Folder of these snapshots, which all replicas of sys share. Not set: backups/ in the object storage.',
        minLength: 1,
      }),
    ),
    backupKeep: Type.Integer({
      description: 'Number of these snapshots that are kept; older ones are removed.',
      minimum: 1,
      maximum: 10_000,
      default: 14,
    }),
    backupKeepDays: Type.Optional(
      Type.Integer({
        description:
          'Days after which these snapshots are removed even if there are fewer. The newest is always kept. Not set: no limit.',
        minimum: 1,
        maximum: 36_500,
      }),
    ),
  },
  { title: 'Backups' },
);

/** Settings of sys that apply in every mode. */
export const sysConfigSchema = composeConfig(
  ownSettings,
  backupSettings,
  objectStorageSettings,
  publicAddressSettings,
);

export type SysConfig = Readonly<Type.Static<typeof sysConfigSchema>>;

/** Lifetimes of tokens and leases without tuning by a mount, namespace or role. */
export const toSystemTtls = ({ maxTokenTtlSeconds }: SysConfig): LeaseTtls => ({
  defaultLeaseTtlSeconds: maxTokenTtlSeconds,
  maxLeaseTtlSeconds: maxTokenTtlSeconds,
});

/** Extra settings, read only when the service runs as its own process. */
export const sysProcessConfig = composeConfig(
  sysConfigSchema,
  servingSettings,
  storeSettings,
  electingSettings,
  Type.Object(
    {
      pkiAddresses: Type.Array(Type.String(), {
        description: 'host:port of the pki service; a DNS name may resolve to several replicas.',
        default: ['pki:9000'],
      }),
      workspaceAddresses: Type.Array(Type.String(), {
        description:
          'host:port of the workspace service; a DNS name may resolve to several replicas.',
        default: ['workspace:9000'],
      }),
      authAddresses: Type.Array(Type.String(), {
        description: 'host:port of the auth service; a DNS name may resolve to several replicas.',
        default: ['auth:9000'],
      }),
      newStores: Type.Array(Type.String(), {
        description:
          'Services (pki, workspace, auth) whose database may have been replaced, for one start. Otherwise sys refuses a service whose database is empty or belongs to another cluster.',
        default: [],
      }),
      internalCaFile: Type.String({
        secretFile: true,
        description: 'Key and certificate of the internal CA, PEM: internal-ca.pem.',
      }),
    },
    { title: 'Connections inside the installation' },
  ),
  replicationSettings,
  processSettings,
);
