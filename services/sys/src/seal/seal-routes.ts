/** `sys/init`, `seal-status`, `unseal`, `seal`, `step-down`: work while sealed, and know no namespaces. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import {
  type FieldValues,
  field,
  type OperationContext,
  secretsRoutes,
  topLevel,
} from '@keelson/secrets-api';
import type { InitializationRequest, Initialized } from './initialization-operations.ts';
import type { Seal } from './seal.ts';
import { type Build, SEAL_STATUS, toHandedShares, toSealStatus } from './seal-document.ts';

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
  stored_shares: field.integer({
    description: 'Older parameter without effect; 0 and 1 are accepted.',
    check: (value) =>
      value === 0 || value === 1
        ? undefined
        : 'stored_shares must be 0 or 1: the seal decides how its key is stored',
  }),
  recovery_shares: field.integer({ description: 'Shares of the recovery key (static seal).' }),
  recovery_threshold: field.integer({ description: 'Recovery shares that authorise.' }),
  recovery_pgp_keys: field.commaList({ description: 'As pgp_keys.', default: [] }),
} as const;

type InitFields = FieldValues<typeof INIT_FIELDS>;

/**
 * Refuses parameters that the configured seal would ignore. Clients send the others as 0 or an empty list.
 * @throws KeelsonError `request.invalid`
 */
const requireFieldsOf = (type: Seal['configuredType'], fields: InitFields): void => {
  const ignored =
    type === 'static'
      ? [fields.pgp_keys.length > 0 && 'pgp_keys']
      : [
          (fields.recovery_shares ?? 0) !== 0 && 'recovery_shares',
          (fields.recovery_threshold ?? 0) !== 0 && 'recovery_threshold',
          fields.recovery_pgp_keys.length > 0 && 'recovery_pgp_keys',
        ];
  const names = ignored.filter((name) => name !== false).join(', ');
  if (names === '') return;
  const advice = type === 'static' ? 'use recovery_pgp_keys' : 'use the secret_ parameters';
  throw new KeelsonError('request.invalid', {
    text: `${names} cannot be used with a seal of type ${type}: ${advice}`,
  });
};

const texts = { type: 'array', items: { type: 'string' } } as const;
const INITIALIZED = {
  document: {
    keys: texts,
    keys_base64: texts,
    recovery_keys: texts,
    recovery_keys_base64: texts,
    root_token: { type: 'string' },
  },
} as const;

export const sealRoutes = ({ seal, build, initialize }: SealRouteOptions): Route[] => {
  const status = async ({ dialect }: OperationContext<unknown>) =>
    topLevel(toSealStatus(await seal.lastingStatus(), build, dialect));
  return [
    ...secretsRoutes({
      path: '/sys/init',
      tag: TAG,
      fields: INIT_FIELDS,
      hasSettings: true,
      operations: {
        read: {
          summary: 'Whether the cluster is initialized',
          answer: { document: { initialized: { type: 'boolean' } } },
          handle: async () => topLevel({ initialized: (await seal.status()).initialized }),
        },
        update: {
          summary: 'Initialize the cluster',
          answer: INITIALIZED,
          handle: async ({ fields }) => {
            const type = seal.configuredType;
            const isStatic = type === 'static';
            if (!(await seal.status()).initialized) requireFieldsOf(type, fields);
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
      operations: { read: { summary: 'State of the seal', answer: SEAL_STATUS, handle: status } },
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
          answer: SEAL_STATUS,
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
            // If this replica is sealed, the request is for one that is open.
            seal.requireRootKey();
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
        // Every replica serves requests, so there is no leadership to give up.
        update: { summary: 'Give up leadership (none is held)', handle: () => undefined },
      },
    }),
  ];
};
