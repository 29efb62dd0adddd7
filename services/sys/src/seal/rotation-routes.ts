/**
 * `sys/key-status`, `sys/rotate`, `sys/rotate/config`, and the last two below OpenBao's `sys/rotate/keyring`;
 * `sys/rotate/unseal-key`.
 */
import type { Route } from '@keelson/edge';
import { field, mirrored, secretsRoutes } from '@keelson/secrets-api';
import {
  configureRotation,
  currentKeyringTerm,
  findRotationConfig,
  type RotationContext,
  rotateKey,
} from './rotation-operations.ts';
import type { KeptRootKey, Seal } from './seal.ts';

const TAG = 'seal';
const NOT_MOVED =
  'the new key opens the seal and the former one does not, but the server cannot move the file: move the file whose name ends with .next to the place of the former one';

const KEPT: Readonly<Record<KeptRootKey, string>> = {
  shared:
    'the root key stays, because it is that of all clusters of the replication set: the former key file and a copy of the store made before read later copies, too',
  'older shares':
    'the root key stays, because the recovery shares were made by an earlier version, which cannot be given another: replace them with sys/rekey-recovery-key, and the key file once more',
};

const keyringRoutes = (path: string, context: RotationContext): Route[] => [
  ...secretsRoutes({
    path,
    tag: TAG,
    fields: {},
    operations: {
      update: {
        summary: 'Replace the key of the barrier',
        handle: async () => {
          await rotateKey(context);
          return undefined;
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${path}/config`,
    tag: TAG,
    hasSettings: true,
    fields: {
      enabled: field.bool({ description: 'Whether the key is replaced automatically.' }),
      max_operations: field.integer({ description: 'Encryptions after which it is replaced.' }),
      interval: field.durationSeconds({
        description: 'Time after which it is replaced; 0: never.',
      }),
    },
    operations: {
      read: {
        summary: 'Automatic rotation',
        handle: async () => {
          const { enabled, maxOperations, intervalSeconds } = await findRotationConfig(context);
          return {
            data: { enabled, max_operations: maxOperations, interval: intervalSeconds },
          };
        },
      },
      update: {
        summary: 'Configure automatic rotation',
        handle: async ({ fields }) => {
          await configureRotation(context, {
            ...(fields.enabled !== undefined && { enabled: fields.enabled }),
            ...(fields.max_operations !== undefined && { maxOperations: fields.max_operations }),
            ...(fields.interval !== undefined && { intervalSeconds: fields.interval }),
          });
          return undefined;
        },
      },
    },
  }),
];

export const rotationRoutes = (context: RotationContext, seal: Seal): Route[] => [
  ...secretsRoutes({
    path: '/sys/key-status',
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary: 'Newest key of the barrier',
        answer: {
          mirrored: {
            term: { type: 'integer' },
            install_time: { type: 'string' },
            encryptions: { type: 'integer' },
          },
        },
        handle: async () => {
          await currentKeyringTerm(context);
          const { term, installedAtMs, encryptions } = context.barrier.keyStatus();
          return mirrored({
            term,
            install_time: new Date(installedAtMs).toISOString(),
            encryptions,
          });
        },
      },
    },
  }),
  ...['/sys/rotate', '/sys/rotate/keyring'].flatMap((path) => keyringRoutes(path, context)),
  ...secretsRoutes({
    path: '/sys/rotate/unseal-key',
    tag: TAG,
    fields: {},
    operations: {
      update: {
        summary: 'Replace the key file that opens the seal, and the root key',
        handle: async () => {
          const { isInstalled, keptRootKey } = await seal.replaceUnsealKey();
          const warnings = [
            ...(isInstalled ? [] : [NOT_MOVED]),
            ...(keptRootKey === undefined ? [] : [KEPT[keptRootKey]]),
          ];
          return warnings.length === 0 ? undefined : { data: null, warnings };
        },
      },
    },
  }),
];
