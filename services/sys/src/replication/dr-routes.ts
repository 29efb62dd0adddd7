/** Routes of DR secondaries only: the operation token, and the maintenance that it authorises. */
import type { Route } from '@keelson/edge';
import {
  type Answer,
  field,
  type OperationContext,
  secretsRoutes,
  topLevel,
} from '@keelson/secrets-api';
import {
  ATTEMPT_FIELDS,
  CANCEL_FIELDS,
  cancelling,
  SHARE_FIELDS,
} from '../seal/ceremony-routes.ts';
import { TOKEN_CEREMONY, toTokenCeremony } from '../seal/seal-document.ts';
import {
  cancelTokenCeremony,
  giveTokenCeremonyShare,
  startTokenCeremony,
  tokenCeremonyProgress,
} from '../seal/token-ceremony-operations.ts';
import type { Replication } from './compose-replication.ts';
import { REINDEX_FIELDS, reindex } from './replication-routes.ts';

const TAG = 'replication';
const BASE = '/sys/replication/dr/secondary';

const TOKEN_FIELD = {
  dr_operation_token: field.string({ description: 'DR operation token.', default: '' }),
} as const;

interface TokenField {
  readonly dr_operation_token: string;
}

const ceremonyRoutes = ({
  requireDrSecondary,
  operationTokenCeremony: ceremony,
}: Replication): Route[] => [
  ...secretsRoutes({
    path: `${BASE}/generate-operation-token/attempt`,
    tag: TAG,
    fields: ATTEMPT_FIELDS,
    operations: {
      update: {
        summary: 'Start an attempt',
        answer: TOKEN_CEREMONY,
        handle: async ({ fields: { otp, pgp_key: pgpKey } }) => {
          await requireDrSecondary();
          const started = await startTokenCeremony(ceremony, { otp, pgpKey });
          const drawn = otp === '' ? started.attempt?.purpose.password : '';
          return topLevel(toTokenCeremony(started, drawn));
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/generate-operation-token/attempt`,
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary: 'Progress of the attempt',
        answer: TOKEN_CEREMONY,
        handle: async () => {
          await requireDrSecondary();
          return topLevel(toTokenCeremony(await tokenCeremonyProgress(ceremony)));
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/generate-operation-token/attempt`,
    tag: TAG,
    fields: CANCEL_FIELDS,
    operations: {
      delete: {
        summary: 'Cancel the attempt',
        handle: async (exchange) => {
          await requireDrSecondary();
          await cancelTokenCeremony(ceremony, cancelling(exchange));
          return undefined;
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/generate-operation-token/update`,
    tag: TAG,
    fields: SHARE_FIELDS,
    operations: {
      update: {
        summary: 'Give a key share',
        answer: TOKEN_CEREMONY,
        handle: async ({ fields }) => {
          await requireDrSecondary();
          return topLevel(toTokenCeremony(await giveTokenCeremonyShare(ceremony, fields)));
        },
      },
    },
  }),
];

export const drRoutes = (replication: Replication): Route[] => {
  const { upkeep, requireDrSecondary, requireOperationToken } = replication;
  const authorized = async (
    { fields, head }: OperationContext<TokenField>,
    suffix: string,
  ): Promise<void> => {
    await requireDrSecondary();
    await requireOperationToken({
      token: fields.dr_operation_token,
      path: `${BASE.slice(1)}/${suffix}`,
      remoteAddress: head.remoteAddress,
    });
  };
  return [
    ...ceremonyRoutes(replication),
    ...secretsRoutes({
      path: `${BASE}/operation-token/delete`,
      tag: TAG,
      fields: TOKEN_FIELD,
      operations: {
        update: {
          summary: 'Delete the operation token',
          handle: async (context) => {
            await authorized(context, 'operation-token/delete');
            await replication.deleteOperationToken();
            return undefined;
          },
        },
      },
    }),
    ...secretsRoutes({
      path: `${BASE}/reindex`,
      tag: TAG,
      fields: { ...TOKEN_FIELD, ...REINDEX_FIELDS },
      operations: {
        update: {
          summary: 'Count the trees again and compare with the primary',
          handle: async (context) => {
            await authorized(context, 'reindex');
            return reindex(upkeep, context.fields);
          },
        },
      },
    }),
    ...secretsRoutes({
      path: `${BASE}/recover`,
      tag: TAG,
      fields: TOKEN_FIELD,
      operations: {
        update: {
          summary: 'Retry failed replication now',
          handle: async (context): Promise<Answer> => {
            await authorized(context, 'recover');
            await upkeep.recover();
            return { data: null, warnings: ['Recovery has been started.'] };
          },
        },
      },
    }),
    ...secretsRoutes({
      path: `${BASE}/merkle-check`,
      tag: TAG,
      fields: TOKEN_FIELD,
      operations: {
        update: {
          summary: 'Compare the trees with the records',
          handle: async (context) => {
            await authorized(context, 'merkle-check');
            return { data: await replication.merkleReport() };
          },
        },
      },
    }),
  ];
};
