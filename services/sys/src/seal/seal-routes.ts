/** `sys/init`, `seal-status`, `unseal`, `seal`, `step-down`. They work while sealed and know no namespaces. */
import type { Route } from '@keelson/edge';
import { field, type OperationContext, secretsRoutes, topLevel } from '@keelson/secrets-api';
import type { InitializationRequest, Initialized } from './initialization-operations.ts';
import type { Seal } from './seal.ts';
import { type Build, toHandedShares, toSealStatus } from './seal-document.ts';

const TAG = 'seal';

export interface SealRouteOptions {
  readonly seal: Seal;
  readonly build: Build;
  readonly initialize: (request: InitializationRequest) => Promise<Initialized>;
}

const INIT_FIELDS = {
  secret_shares: field.integer({ description: 'Shares of the unseal key.' }),
  secret_threshold: field.integer({ description: 'Shares that open the seal.' }),
  pgp_keys: field.commaList({ description: 'PGP keys of the holders, base64.', default: [] }),
  root_token_pgp_key: field.string({ description: 'PGP key for the root token.', default: '' }),
  stored_shares: field.integer({ description: 'Older parameter; ignored.' }),
  recovery_shares: field.integer({ description: 'Shares of the recovery key (static seal).' }),
  recovery_threshold: field.integer({ description: 'Recovery shares that authorise.' }),
  recovery_pgp_keys: field.commaList({ description: 'As pgp_keys.', default: [] }),
} as const;

export const sealRoutes = ({ seal, build, initialize }: SealRouteOptions): Route[] => {
  const status = async ({ dialect }: OperationContext<unknown>) =>
    topLevel(toSealStatus(await seal.status(), build, dialect));
  return [
    ...secretsRoutes({
      path: '/sys/init',
      tag: TAG,
      fields: INIT_FIELDS,
      operations: {
        read: {
          summary: 'Whether the cluster is initialized',
          handle: async () => topLevel({ initialized: (await seal.status()).initialized }),
        },
        update: {
          summary: 'Initialize the cluster',
          handle: async ({ fields }) => {
            const isStatic = seal.configuredType === 'static';
            const made = await initialize({
              shares: (isStatic ? fields.recovery_shares : undefined) ?? fields.secret_shares ?? 0,
              threshold:
                (isStatic ? fields.recovery_threshold : undefined) ?? fields.secret_threshold ?? 0,
              pgpKeys: isStatic ? fields.recovery_pgp_keys : fields.pgp_keys,
              rootTokenPgpKey: fields.root_token_pgp_key,
            });
            const none = { keys: [], keys_base64: [] };
            return topLevel({
              ...(isStatic ? none : toHandedShares(made)),
              ...(isStatic && { recovery_keys: made.keys, recovery_keys_base64: made.keysBase64 }),
              root_token: made.rootToken,
            });
          },
        },
      },
    }),
    ...secretsRoutes({
      path: '/sys/seal-status',
      tag: TAG,
      fields: {},
      operations: { read: { summary: 'State of the seal', handle: status } },
    }),
    ...secretsRoutes({
      path: '/sys/unseal',
      tag: TAG,
      fields: {
        key: field.string({ description: 'A key share, hex or base64.', default: '' }),
        reset: field.bool({ description: 'Forget the shares given so far.', default: false }),
        migrate: field.bool({
          description: 'Not supported; false is accepted.',
          default: false,
          check: (value) => (value ? 'migrate is not supported: a seal keeps its type' : undefined),
        }),
      },
      operations: {
        update: {
          summary: 'Give a key share',
          handle: async (context) => {
            if (context.fields.reset) seal.resetShares();
            else await seal.giveShare(context.fields.key);
            return status(context);
          },
        },
      },
    }),
    ...secretsRoutes({
      path: '/sys/seal',
      tag: TAG,
      fields: {},
      operations: {
        update: {
          summary: 'Seal this process',
          handle: async () => {
            await seal.seal();
            return undefined;
          },
        },
      },
    }),
    ...secretsRoutes({
      path: '/sys/step-down',
      tag: TAG,
      fields: {},
      operations: {
        // Every replica serves; there is no leadership to give up.
        update: { summary: 'Give up leadership (none is held)', handle: () => undefined },
      },
    }),
  ];
};
