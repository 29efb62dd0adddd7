/** `sys/replication/…`: the routes that both kinds have in common. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { REPLICATION_KINDS, type ReplicationKind } from '@keelson/replication';
import { type Answer, field, type OperationContext, secretsRoutes } from '@keelson/secrets-api';
import { generatePublicKey } from './activation-operations.ts';
import type { Replication } from './compose-replication.ts';
import { addressForSecondary } from './domain/address-for-secondary.ts';
import { requireNoCredentials } from './domain/cluster-address.ts';
import { filterRoutes } from './filters/filter-routes.ts';
import { PROMOTED, promoted, promotionWarnings } from './promotion-answer.ts';
import {
  disableSecondary,
  followAddresses,
  followToken,
  hasNats,
  planPromotion,
  promoteSecondary,
} from './secondary-operations.ts';
import {
  demotePrimary,
  disablePrimary,
  enablePrimary,
  issueSecondaryToken,
  revokeSecondary,
} from './set-operations.ts';

const TAG = 'replication';
const BRIEFLY = 'Keelson will be unavailable for a brief period and will resume service shortly.';
const FOUND =
  'Keelson has successfully found secondary information; it may take a while to perform setup tasks. Keelson will be unavailable until these tasks and initial sync complete.';

const warned = (text: string): Answer => ({ data: null, warnings: [text] });
const DISABLED = warned(`This cluster is having replication disabled. ${BRIEFLY}`);

const OPERATION_TOKEN = field.string({ description: 'DR operation token.', default: '' });
const API_ADDRESS = field.string({
  description: 'Address of the primary, in place of the one in the token.',
  default: '',
});
const CA_FILE = field.string({ description: 'PEM file of CA roots.', default: '' });
const CA_PATH = field.string({ description: 'Directory of PEM files of CA roots.', default: '' });
const CLUSTER_ADDRESS = field.string({
  description: 'Cluster address that secondaries are given; the configured one when absent.',
  default: '',
});
const SECONDARY_ID = (description: string) =>
  field.string({ description, required: 'missing id parameter value' });

const TTL_SECONDS = 1800;

const primaryRoutes = (kind: ReplicationKind, { context }: Replication): Route[] => {
  const path = (suffix: string): string => `/sys/replication/${kind}/primary/${suffix}`;
  return [
    ...secretsRoutes({
      path: path('enable'),
      tag: TAG,
      fields: { primary_cluster_addr: CLUSTER_ADDRESS },
      operations: {
        update: {
          summary: 'Make this cluster a primary',
          handle: async ({ fields }) => {
            requireNoCredentials('primary_cluster_addr', [fields.primary_cluster_addr]);
            await enablePrimary(context, kind, fields.primary_cluster_addr);
            return warned(`This cluster is being enabled as a primary for replication. ${BRIEFLY}`);
          },
        },
      },
    }),
    ...secretsRoutes({
      path: path('demote'),
      tag: TAG,
      fields: {},
      operations: {
        update: {
          summary: 'Demote this primary to a secondary without a primary',
          handle: async () => {
            const isPublished = await demotePrimary(context, kind);
            return {
              data: null,
              warnings: [
                `This cluster is being demoted to a replication secondary. ${BRIEFLY}`,
                ...(isPublished
                  ? []
                  : ['The newest writes could not be published: secondaries may miss them.']),
              ],
            };
          },
        },
      },
    }),
    ...secretsRoutes({
      path: path('disable'),
      tag: TAG,
      fields: {},
      operations: {
        update: {
          summary: 'Dissolve the set; its secondaries can no longer connect',
          handle: async () => {
            await disablePrimary(context, kind);
            return DISABLED;
          },
        },
      },
    }),
    ...secretsRoutes({
      path: path('secondary-token'),
      tag: TAG,
      fields: {
        id: SECONDARY_ID('Id of the secondary.'),
        ttl: field.durationSeconds({
          description: 'How long the token can be used.',
          default: TTL_SECONDS,
        }),
        secondary_public_key: field.string({
          description: 'Key of the secondary that the token is sealed to.',
          default: '',
        }),
      },
      operations: {
        update: {
          summary: 'Let a secondary in',
          handle: async ({ fields, head }) => {
            const issued = await issueSecondaryToken(context, kind, {
              id: fields.id,
              ttlSeconds: fields.ttl || TTL_SECONDS,
              secondaryPublicKey: fields.secondary_public_key,
              apiAddress: addressForSecondary(context.transport, head),
            });
            if ('token' in issued) return { data: { token: issued.token } };
            const { wrapInfo } = issued;
            return {
              data: null,
              wrapInfo: {
                token: wrapInfo.token,
                accessor: wrapInfo.accessor,
                ttl: wrapInfo.ttlSeconds,
                creation_time: wrapInfo.creationTime,
                creation_path: wrapInfo.creationPath,
                wrapped_accessor: wrapInfo.wrappedAccessor,
              },
            };
          },
        },
      },
    }),
    ...secretsRoutes({
      path: path('revoke-secondary'),
      tag: TAG,
      fields: { id: SECONDARY_ID('Id of the secondary.') },
      operations: {
        update: {
          summary: 'Cut a secondary off',
          handle: async ({ fields }) => {
            await revokeSecondary(context, kind, fields.id);
            return undefined;
          },
        },
      },
    }),
  ];
};

const secondaryPath = (kind: ReplicationKind, suffix: string): string =>
  `/sys/replication/${kind}/secondary/${suffix}`;

/** DR secondaries accept no token but the operation token. */
const requireAuthorized = async (
  kind: ReplicationKind,
  replication: Replication,
  { fields, head, warnings }: OperationContext<{ readonly dr_operation_token: string }>,
  suffix: string,
): Promise<void> => {
  if (kind === 'performance') {
    if (fields.dr_operation_token !== '')
      warnings.push('dr_operation_token has no effect: the token of the request authorises this');
    return;
  }
  await replication.requireDrSecondary();
  await replication.requireOperationToken({
    token: fields.dr_operation_token,
    path: secondaryPath(kind, suffix).slice(1),
    remoteAddress: head.remoteAddress,
  });
};

const activationRoutes = (kind: ReplicationKind, replication: Replication): Route[] => [
  ...secretsRoutes({
    path: secondaryPath(kind, 'generate-public-key'),
    tag: TAG,
    fields: {},
    operations: {
      update: {
        summary: 'Make a key that a token can be sealed to',
        handle: async () => ({
          data: { secondary_public_key: await generatePublicKey(replication.context, kind) },
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: secondaryPath(kind, 'enable'),
    tag: TAG,
    fields: {
      token: field.string({
        description: 'Activation token.',
        required: 'missing token parameter value',
      }),
      primary_api_addr: API_ADDRESS,
      ca_file: CA_FILE,
      ca_path: CA_PATH,
    },
    operations: {
      update: {
        summary: 'Clear everything here and follow a primary',
        handle: async ({ fields }) => {
          await replication.activate(kind, {
            token: fields.token,
            primaryApiAddress: fields.primary_api_addr,
            caFile: fields.ca_file,
            caPath: fields.ca_path,
          });
          return warned(FOUND);
        },
      },
    },
  }),
];

const roleChangeRoutes = (kind: ReplicationKind, replication: Replication): Route[] => [
  ...secretsRoutes({
    path: secondaryPath(kind, 'promote'),
    tag: TAG,
    fields: {
      dr_operation_token: OPERATION_TOKEN,
      primary_cluster_addr: CLUSTER_ADDRESS,
      force: field.bool({
        description:
          'Promote with entries missing, or without knowing what the primary has committed.',
        default: false,
      }),
      dry_run: field.bool({
        description: 'Only report the data that would be lost.',
        default: false,
      }),
    },
    operations: {
      update: {
        summary: 'Promote this secondary to primary',
        answer: PROMOTED,
        handle: async (exchange) => {
          await requireAuthorized(kind, replication, exchange, 'promote');
          const { fields } = exchange;
          requireNoCredentials('primary_cluster_addr', [fields.primary_cluster_addr]);
          if (fields.dry_run) {
            const plan = await planPromotion(replication.context, kind);
            return promoted(promotionWarnings(plan, hasNats(replication.context)), plan);
          }
          const plan = await promoteSecondary(replication.context, kind, {
            primaryClusterAddress: fields.primary_cluster_addr,
            force: fields.force,
          });
          return promoted(
            [
              `This cluster is being promoted to a replication primary. ${BRIEFLY}`,
              ...promotionWarnings(plan, hasNats(replication.context)),
            ],
            plan,
          );
        },
      },
    },
  }),
  ...secretsRoutes({
    path: secondaryPath(kind, 'disable'),
    tag: TAG,
    fields: { dr_operation_token: OPERATION_TOKEN },
    operations: {
      update: {
        summary: 'Leave the set and keep the data',
        handle: async (exchange) => {
          await requireAuthorized(kind, replication, exchange, 'disable');
          await disableSecondary(replication.context, kind);
          return DISABLED;
        },
      },
    },
  }),
];

const followingRoutes = (kind: ReplicationKind, replication: Replication): Route[] => [
  ...secretsRoutes({
    path: secondaryPath(kind, 'update-primary'),
    tag: TAG,
    fields: {
      dr_operation_token: OPERATION_TOKEN,
      token: field.string({
        description: 'Activation token; blank: follow no primary.',
      }),
      update_primary_addrs: field.commaList({
        description: 'Cluster addresses; the first that answers is the primary.',
      }),
      primary_api_addr: API_ADDRESS,
      ca_file: CA_FILE,
      ca_path: CA_PATH,
    },
    operations: {
      update: {
        summary: 'Follow another primary, without clearing anything',
        handle: async (exchange) => {
          await requireAuthorized(kind, replication, exchange, 'update-primary');
          const { token, update_primary_addrs: addresses, ...rest } = exchange.fields;
          if (token !== undefined && addresses !== undefined)
            throw new KeelsonError('request.invalid', {
              text: 'token and update_primary_addrs are mutually exclusive',
            });
          if (addresses !== undefined && rest.primary_api_addr !== '')
            throw new KeelsonError('request.invalid', {
              text: 'primary_api_addr is used with a token only, not with update_primary_addrs',
            });
          if (token === '')
            for (const name of ['primary_api_addr', 'ca_file', 'ca_path'] as const)
              if (rest[name] !== '')
                throw new KeelsonError('request.invalid', {
                  text: `${name} cannot be used with a blank token, which makes the cluster follow nobody`,
                });
          requireNoCredentials('update_primary_addrs', addresses ?? []);
          if (addresses !== undefined)
            await followAddresses(replication.context, kind, addresses, {
              caFile: rest.ca_file,
              caPath: rest.ca_path,
            });
          else if (token !== undefined)
            await followToken(replication.context, kind, {
              token,
              primaryApiAddress: rest.primary_api_addr,
              caFile: rest.ca_file,
              caPath: rest.ca_path,
            });
          else
            throw new KeelsonError('request.invalid', {
              text: 'token or update_primary_addrs must be given',
            });
          return warned(FOUND);
        },
      },
    },
  }),
];

const commonRoutes = ({ status, upkeep, merkleReport }: Replication): Route[] => [
  ...secretsRoutes({
    path: '/sys/replication/status',
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary: 'Status of both kinds',
        handle: async () => ({
          data: { dr: await status('dr'), performance: await status('performance') },
        }),
      },
    },
  }),
  ...REPLICATION_KINDS.flatMap((kind) =>
    secretsRoutes({
      path: `/sys/replication/${kind}/status`,
      tag: TAG,
      fields: {},
      operations: {
        read: { summary: 'Status', handle: async () => ({ data: await status(kind) }) },
      },
    }),
  ),
  ...secretsRoutes({
    path: '/sys/replication/recover',
    tag: TAG,
    fields: {},
    operations: {
      update: {
        summary: 'Retry failed replication now',
        handle: async () => {
          await upkeep.recover();
          return warned('Recovery has been started.');
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/replication/reindex',
    tag: TAG,
    fields: REINDEX_FIELDS,
    operations: {
      update: { summary: 'Count the trees again', handle: ({ fields }) => reindex(upkeep, fields) },
    },
  }),
  ...secretsRoutes({
    path: '/sys/replication/merkle-check',
    tag: TAG,
    fields: {},
    operations: {
      update: {
        summary: 'Compare the trees with the records',
        handle: async () => ({ data: await merkleReport() }),
      },
    },
  }),
];

export const REINDEX_FIELDS = {
  diff: field.bool({ description: 'Compare before counting (slower).', default: false }),
  force: field.bool({ description: 'Count everything again.', default: false }),
  skip_flush: field.bool({ description: 'Save in the background.', default: false }),
} as const;

export const reindex = (
  upkeep: Replication['upkeep'],
  flags: { readonly diff: boolean; readonly force: boolean; readonly skip_flush: boolean },
): Answer => {
  upkeep.reindex({ diff: flags.diff, force: flags.force, skipFlush: flags.skip_flush });
  return warned(
    'Reindex has been started. It runs in the background; the status shows its progress.',
  );
};

export const replicationRoutes = (replication: Replication): Route[] => [
  ...commonRoutes(replication),
  ...filterRoutes(replication.context),
  ...REPLICATION_KINDS.flatMap((kind) => [
    ...primaryRoutes(kind, replication),
    ...activationRoutes(kind, replication),
    ...roleChangeRoutes(kind, replication),
    ...followingRoutes(kind, replication),
  ]),
];
