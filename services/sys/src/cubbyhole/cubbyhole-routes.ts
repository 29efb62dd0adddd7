import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { Caller } from '@keelson/proto/edge/v1/edge';
import { field, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import type { TokenRef } from '../tokens/token-records.ts';
import { cubbyholeOf, listCubbyhole } from './cubbyhole-records.ts';

const MAX_PATH_LENGTH = 512;
const MAX_ENTRIES = 1000;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const requireOwner = (caller: Caller | undefined): TokenRef => {
  if (caller === undefined) throw new KeelsonError('sys.permission_denied');
  if (caller.tokenType !== 'service')
    refuse('cubbyhole operations are only supported by "service" type tokens');
  return { namespaceId: caller.namespace?.id ?? 'root', hash: caller.tokenHash };
};

const requirePath = (path: string): string => {
  const normal = path
    .split('/')
    .filter((segment) => segment !== '')
    .join('/');
  if (normal.length > MAX_PATH_LENGTH) refuse(`a path has at most ${MAX_PATH_LENGTH} characters`);
  return normal;
};

/** `cubbyhole/*`: private storage for every service token. */
export const cubbyholeRoutes = (store: Store): Route[] => {
  const path = field.string({ description: 'Path of the secret.', default: '' });
  const list = async (caller: Caller | undefined, given: string) => {
    const below = requirePath(given);
    const prefix = below === '' ? '' : `${below}/`;
    return { data: { keys: await listCubbyhole(store, requireOwner(caller), prefix) } };
  };

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
            const secrets = cubbyholeOf(requireOwner(caller));
            const data = await secrets.find(store, requirePath(fields.path));
            return data && { data };
          },
        },
        update: {
          summary: 'Write a secret of the calling token.',
          anyParameters: true,
          handle: async ({ caller, fields, data }) => {
            const owner = requireOwner(caller);
            const { path: _, ...secret } = data;
            const key = requirePath(fields.path);
            if (Object.keys(secret).length === 0) refuse('missing data fields');
            const secrets = cubbyholeOf(owner);
            await store.transact(async (tx) => {
              const entries = await tx.scan(secrets.prefix, { limit: MAX_ENTRIES });
              if (entries.length >= MAX_ENTRIES && !(await secrets.find(tx, key)))
                refuse(`a cubbyhole holds at most ${MAX_ENTRIES} secrets`);
              secrets.write(tx, key, secret);
            });
            return undefined;
          },
        },
        delete: {
          summary: 'Delete a secret of the calling token.',
          handle: async ({ caller, fields }) => {
            const secrets = cubbyholeOf(requireOwner(caller));
            await store.transact((tx) => secrets.delete(tx, requirePath(fields.path)));
            return undefined;
          },
        },
      },
    }),
  ];
};
