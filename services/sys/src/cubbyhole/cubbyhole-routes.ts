import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { Caller } from '@keelson/proto/edge/v1/edge';
import { field, secretsRoutes } from '@keelson/secrets-api';
import type { TokenRef } from '../tokens/token-records.ts';
import {
  type CubbyholeContext,
  deleteSecret,
  listSecrets,
  readSecret,
  writeSecret,
} from './cubbyhole-operations.ts';

const requireOwner = (caller: Caller | undefined): TokenRef => {
  if (caller === undefined) throw new KeelsonError('sys.permission_denied');
  if (caller.tokenType !== 'service')
    throw new KeelsonError('request.invalid', {
      text: 'cubbyhole operations are only supported by "service" type tokens',
    });
  return { namespaceId: caller.namespace?.id ?? 'root', hash: caller.tokenHash };
};

/** `cubbyhole/*`: private storage for every service token. */
export const cubbyholeRoutes = (context: CubbyholeContext): Route[] => {
  const path = field.string({ description: 'Path of the secret.', default: '' });
  const list = async (caller: Caller | undefined, below: string) => ({
    data: { keys: await listSecrets(context, requireOwner(caller), below) },
  });

  return [
    ...secretsRoutes({
      path: '/cubbyhole',
      tag: 'cubbyhole',
      fields: {},
      operations: {
        list: { summary: 'List the names at the top.', handle: ({ caller }) => list(caller, '') },
      },
    }),
    ...secretsRoutes({
      path: '/cubbyhole/*',
      tag: 'cubbyhole',
      fields: { path },
      operations: {
        list: {
          summary: 'List the names below a path.',
          handle: ({ caller, fields }) => list(caller, fields.path),
        },
        read: {
          summary: 'Read a secret of the calling token.',
          handle: async ({ caller, fields }) => {
            const data = await readSecret(context, requireOwner(caller), fields.path);
            return data && { data };
          },
        },
        update: {
          summary: 'Write a secret of the calling token.',
          anyParameters: true,
          handle: async ({ caller, fields, data }) => {
            const { path: _, ...secret } = data;
            await writeSecret(context, requireOwner(caller), fields.path, secret);
            return undefined;
          },
        },
        delete: {
          summary: 'Delete a secret of the calling token.',
          handle: async ({ caller, fields }) => {
            await deleteSecret(context, requireOwner(caller), fields.path);
            return undefined;
          },
        },
      },
    }),
  ];
};
