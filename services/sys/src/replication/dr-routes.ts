/** Routes of DR secondaries only: the operation token, and the maintenance that it authorises. */
import type { Route } from '@keelson/edge';
import { type Answer, field, type OperationContext, secretsRoutes } from '@keelson/secrets-api';
import { WITHOUT_ENVELOPE } from '../seal/ceremony-form.ts';
import { tokenCeremonyRoutes } from '../seal/ceremony-routes.ts';
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
    ...tokenCeremonyRoutes(replication.operationTokenCeremony, {
      base: `${BASE}/generate-operation-token`,
      tag: TAG,
      form: WITHOUT_ENVELOPE,
      requireServed: requireDrSecondary,
    }),
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
