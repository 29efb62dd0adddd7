/** `auth/token/*`: creating, looking up, renewing and revoking tokens. Roles have a file of their own. */
import { clientCertificatesOf, type Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { Caller } from '@keelson/proto/edge/v1/edge';
import {
  ACCEPTED,
  type FieldValues,
  field,
  type OperationContext,
  secretsRoutes,
} from '@keelson/secrets-api';
import { findMissingPolicies } from '../policies/policy-operations.ts';
import { decideCreation } from './domain/token-creation.ts';
import type { TokenEntry } from './domain/token-entry.ts';
import { presentedToken } from './presented-token.ts';
import type { CreationContext, RenewalContext, TokenContext } from './token-context.ts';
import { toAuthBlock, toLookupData } from './token-document.ts';
import { findToken, findTokenByAccessor, issueToken, renewToken } from './token-operations.ts';
import { findStoredToken, listAccessors, refOf } from './token-records.ts';
import { removeDangling, revokeOrphaning, revokeTree } from './token-revocation-operations.ts';
import { rightsOf } from './token-rights-operations.ts';
import { findRole } from './token-role-operations.ts';

const TAG = 'tokens';

const CREATE_FIELDS = {
  id: field.string({
    description: 'Value of the token (root namespace, sudo only).',
    default: '',
    maxLength: 512,
  }),
  role_name: field.string({
    description: 'Role to create the token by.',
    default: '',
    maxLength: 256,
  }),
  policies: field.commaList({
    description: 'Policies; the parent’s when not given.',
    maxLength: 16_384,
  }),
  meta: field.stringMap({ description: 'Metadata: returned only.', default: {} }),
  no_parent: field.bool({ description: 'Make an orphan (sudo only).', default: false }),
  no_default_policy: field.bool({ description: 'Do not add the default policy.', default: false }),
  renewable: field.bool({ description: 'Whether it can be renewed.', default: true }),
  ttl: field.durationSeconds({ description: 'Time to live.' }),
  lease: field.durationSeconds({ description: 'Older name of ttl.' }),
  type: field.string({ description: '"service" or "batch".', default: '', maxLength: 16 }),
  explicit_max_ttl: field.durationSeconds({ description: 'Absolute maximum.', default: 0 }),
  display_name: field.string({
    description: 'Name in the audit log.',
    default: '',
    maxLength: 512,
  }),
  num_uses: field.integer({
    description: 'Requests it serves; 0: no limit.',
    default: 0,
    check: (uses) => (uses < 0 ? 'num_uses cannot be negative' : undefined),
  }),
  period: field.durationSeconds({ description: 'Period of renewal (sudo only).', default: 0 }),
  entity_alias: field.string({
    description:
      'Alias at the mount auth/token/ whose entity the token gets, created if need be. The role must allow it.',
    default: '',
    maxLength: 512,
  }),
} as const;

const TOKEN_FIELD = { token: field.string({ description: 'The token.', default: '' }) } as const;
const ACCESSOR_FIELD = {
  accessor: field.string({ description: 'Accessor of the token.', default: '' }),
} as const;
const INCREMENT_FIELD = {
  increment: field.durationSeconds({ description: 'Time wanted from now.', default: 0 }),
} as const;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const requireCaller = (caller: Caller | undefined): Caller => {
  if (caller === undefined) throw new KeelsonError('sys.permission_denied');
  return caller;
};

/** The service or batch token of the request itself. */
export const requireOwn = async (
  context: TokenContext,
  { head, caller }: Pick<OperationContext<unknown>, 'head' | 'caller'>,
): Promise<TokenEntry> => {
  const { tokenHash, namespace } = requireCaller(caller);
  const stored = await findStoredToken(context.store, {
    namespaceId: namespace?.id ?? 'root',
    hash: tokenHash,
  });
  const own = stored ?? (await findToken(context, presentedToken(head)));
  if (own === undefined) throw new KeelsonError('sys.permission_denied');
  return own;
};

const requireToken = async (context: TokenContext, token: string): Promise<TokenEntry> => {
  if (token === '') refuse('missing token');
  const found = await findToken(context, token);
  if (found === undefined) throw new KeelsonError('sys.bad_token');
  return found;
};

const requireAccessor = async (
  context: TokenContext,
  { fields: { accessor }, namespace }: OperationContext<{ readonly accessor: string }>,
): Promise<TokenEntry> => {
  if (accessor === '') refuse('missing accessor');
  return (await findTokenByAccessor(context, namespace.id, accessor)) ?? refuse('invalid accessor');
};

const create =
  (context: CreationContext, kind: 'create' | 'create-orphan') =>
  async (exchange: OperationContext<FieldValues<typeof CREATE_FIELDS>>) => {
    const { fields, namespace, caller, warnings } = exchange;
    const parent =
      caller?.tokenType === 'batch'
        ? refuse('batch tokens cannot create more tokens')
        : await requireOwn(context, exchange);
    const role =
      fields.role_name === ''
        ? undefined
        : ((await findRole(context, namespace.id, fields.role_name)) ??
          refuse(`unknown role ${fields.role_name}`));
    const { plan, warnings: planWarnings } = decideCreation(
      {
        id: fields.id,
        policies: fields.policies,
        meta: fields.meta,
        noParent: fields.no_parent,
        noDefaultPolicy: fields.no_default_policy,
        renewable: fields.renewable,
        ttlSeconds: fields.ttl || fields.lease || 0,
        type: fields.type,
        explicitMaxTtlSeconds: fields.explicit_max_ttl,
        displayName: fields.display_name,
        numUses: fields.num_uses,
        periodSeconds: fields.period,
        entityAlias: fields.entity_alias,
      },
      {
        parent,
        isSudo: caller?.sudo === true,
        isOrphanPath: kind === 'create-orphan',
        role,
        namespace,
        ttls: await context.ttlsOf(namespace.id),
        nowMs: context.clock.nowMs(),
      },
    );
    warnings.push(...planWarnings);
    for (const name of await findMissingPolicies(context.store, namespace.id, plan.policies)) {
      warnings.push(`Policy "${name}" does not exist`);
    }
    const provideEntity =
      fields.entity_alias === ''
        ? undefined
        : await context.entityOfAlias(namespace.id, fields.entity_alias);
    const { token, entry } = await issueToken(context, plan, provideEntity, fields.id || undefined);
    const rights = await rightsOf(context, entry);
    return { auth: toAuthBlock(token, entry, rights, context.clock.nowMs()) };
  };

/** @param id "" if the request names the token by its accessor */
const show = async (context: TokenContext, id: string, entry: TokenEntry) => ({
  data: toLookupData(id, entry, await rightsOf(context, entry), context.clock.nowMs()),
});

const lookup = async (context: TokenContext, token: string) =>
  show(context, token, await requireToken(context, token));

const renewed = async (
  context: RenewalContext,
  token: string,
  entry: TokenEntry,
  increment: number,
  certificates: readonly Buffer[] = [],
) => {
  if (entry.type === 'batch') refuse('batch tokens cannot be renewed');
  const rights = await rightsOf(context, entry);
  if (rights === undefined) refuse('the entity of the token is disabled or deleted');
  const limits = await context.loginLimits(entry, certificates);
  const after = await renewToken(context, refOf(entry), increment, limits);
  return { auth: toAuthBlock(token, after, rights, context.clock.nowMs()) };
};

const revoke = async (context: TokenContext, entry: TokenEntry | undefined): Promise<undefined> => {
  if (entry?.type === 'batch') refuse('batch tokens cannot be revoked');
  if (entry !== undefined) await revokeTree(context, refOf(entry));
};

const creationRoutes = (context: CreationContext): Route[] => [
  ...(['/auth/token/create', '/auth/token/create/:role_name'] as const).flatMap((path) =>
    secretsRoutes({
      path,
      tag: TAG,
      fields: CREATE_FIELDS,
      operations: { update: { summary: 'Create a token', handle: create(context, 'create') } },
    }),
  ),
  ...secretsRoutes({
    path: '/auth/token/create-orphan',
    tag: TAG,
    fields: CREATE_FIELDS,
    operations: {
      update: {
        summary: 'Create a token without a parent',
        handle: create(context, 'create-orphan'),
      },
    },
  }),
];

const lookUpRoutes = (context: TokenContext): Route[] => [
  ...(['/auth/token/lookup', '/auth/token/lookup/:token'] as const).flatMap((path) =>
    secretsRoutes({
      path,
      tag: TAG,
      fields: TOKEN_FIELD,
      operations: {
        read: { summary: 'Look up a token', handle: ({ fields }) => lookup(context, fields.token) },
        update: {
          summary: 'Look up a token',
          handle: ({ fields }) => lookup(context, fields.token),
        },
      },
    }),
  ),
  ...secretsRoutes({
    path: '/auth/token/lookup-self',
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary: 'Look up the token of the request',
        handle: async (exchange) =>
          show(context, presentedToken(exchange.head), await requireOwn(context, exchange)),
      },
      update: {
        summary: 'Look up the token of the request',
        handle: async (exchange) =>
          show(context, presentedToken(exchange.head), await requireOwn(context, exchange)),
      },
    },
  }),
  ...secretsRoutes({
    path: '/auth/token/lookup-accessor',
    tag: TAG,
    fields: ACCESSOR_FIELD,
    operations: {
      update: {
        summary: 'Look up a token by its accessor',
        handle: async (exchange) => show(context, '', await requireAccessor(context, exchange)),
      },
    },
  }),
];

const renewalRoutes = (context: RenewalContext): Route[] => [
  ...secretsRoutes({
    path: '/auth/token/renew',
    tag: TAG,
    fields: { ...TOKEN_FIELD, ...INCREMENT_FIELD },
    operations: {
      update: {
        summary: 'Renew a token',
        handle: async ({ fields: { token, increment } }) => {
          if (token === '') refuse('missing token');
          const entry = (await findToken(context, token)) ?? refuse('token not found');
          return renewed(context, token, entry, increment);
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/auth/token/renew-self',
    tag: TAG,
    fields: INCREMENT_FIELD,
    operations: {
      update: {
        summary: 'Renew the token of the request',
        handle: async (exchange) =>
          renewed(
            context,
            presentedToken(exchange.head),
            await requireOwn(context, exchange),
            exchange.fields.increment,
            clientCertificatesOf(exchange.head),
          ),
      },
    },
  }),
  ...secretsRoutes({
    path: '/auth/token/renew-accessor',
    tag: TAG,
    fields: { ...ACCESSOR_FIELD, ...INCREMENT_FIELD },
    operations: {
      update: {
        summary: 'Renew a token by its accessor',
        handle: async (exchange) =>
          renewed(context, '', await requireAccessor(context, exchange), exchange.fields.increment),
      },
    },
  }),
];

const revocationRoutes = (context: TokenContext): Route[] => [
  ...secretsRoutes({
    path: '/auth/token/revoke',
    tag: TAG,
    fields: TOKEN_FIELD,
    operations: {
      update: {
        summary: 'Revoke a token and its children',
        handle: async ({ fields: { token } }) =>
          revoke(context, token === '' ? refuse('missing token') : await findToken(context, token)),
      },
    },
  }),
  ...secretsRoutes({
    path: '/auth/token/revoke-self',
    tag: TAG,
    fields: {},
    operations: {
      update: {
        summary: 'Revoke the token of the request and its children',
        handle: async (exchange) => revoke(context, await requireOwn(context, exchange)),
      },
    },
  }),
  ...secretsRoutes({
    path: '/auth/token/revoke-accessor',
    tag: TAG,
    fields: ACCESSOR_FIELD,
    operations: {
      update: {
        summary: 'Revoke a token by its accessor',
        handle: async (exchange) => revoke(context, await requireAccessor(context, exchange)),
      },
    },
  }),
  ...secretsRoutes({
    path: '/auth/token/revoke-orphan',
    tag: TAG,
    fields: TOKEN_FIELD,
    operations: {
      update: {
        summary: 'Revoke a token and leave its children as orphans',
        handle: async ({ fields: { token } }) => {
          if (token === '') refuse('missing token');
          const entry = await findToken(context, token);
          if (entry?.type === 'batch') refuse('batch tokens cannot be revoked');
          await revokeOrphaning(context, entry ?? refuse('token to revoke not found'));
          return undefined;
        },
      },
    },
  }),
];

const upkeepRoutes = (context: TokenContext): Route[] => [
  ...secretsRoutes({
    path: '/auth/token/accessors',
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: 'List the accessors of all tokens of the namespace',
        handle: async ({ namespace }) => ({
          data: { keys: await listAccessors(context.store, namespace.id) },
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: '/auth/token/tidy',
    tag: TAG,
    fields: {},
    operations: {
      update: {
        summary: 'Remove what interrupted revocations left behind',
        answer: ACCEPTED,
        handle: async () => {
          const removed = await removeDangling(context);
          return { status: 202, warnings: [`Tidy operation removed ${removed} token trees.`] };
        },
      },
    },
  }),
];

export const tokenRoutes = (context: CreationContext & RenewalContext): Route[] => [
  ...creationRoutes(context),
  ...lookUpRoutes(context),
  ...renewalRoutes(context),
  ...revocationRoutes(context),
  ...upkeepRoutes(context),
];
