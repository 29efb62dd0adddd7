/** `approle/role/…/secret-id`: secret ids of a role. */
import type { Route } from '@keelson/edge';
import { NAME_FIELD, requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import {
  ACCEPTED,
  type FieldValues,
  field,
  isJsonObject,
  type JsonObject,
  type OperationContext,
  secretsRoutes,
} from '@keelson/secrets-api';
import { networksComplaint } from '../logins/token-fields.ts';
import { secretIdsOf } from './approle-records.ts';
import { accessorOf, digestOf, type SecretId } from './domain/secret-id.ts';
import { requireRole } from './role-operations.ts';
import {
  type AppRoleContext,
  destroySecretId,
  findSecretId,
  makeSecretId,
  tidySecretIds,
} from './secret-id-operations.ts';

const TAG = 'approle';
const ROLE = '/approle/role/:role_name';
const MAX_METADATA = 4096;

const SECRET_ID = field.string({
  description: 'The secret id.',
  required: 'missing secret_id',
  maxLength: 4096,
});
const ACCESSOR = field.string({
  description: 'Accessor of the secret id.',
  required: 'missing secret_id_accessor',
  maxLength: 128,
});

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const metadataOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const toMetadata = (text: string): Readonly<Record<string, string>> => {
  if (text === '') return {};
  const parsed = metadataOf(text);
  if (!isJsonObject(parsed) || !Object.values(parsed).every((value) => typeof value === 'string'))
    return refuse('metadata must be a JSON object of texts');
  return parsed as Record<string, string>;
};

const NEW_FIELDS = {
  role_name: NAME_FIELD,
  metadata: field.string({
    description: 'Metadata of the tokens: a JSON object of texts, as text.',
    default: '',
    maxLength: MAX_METADATA,
  }),
  cidr_list: field.commaList({
    description: 'Networks from which it may be used, within those of the role.',
    default: [],
    maxLength: 16_384,
    check: networksComplaint('cidr_list'),
  }),
  token_bound_cidrs: field.commaList({
    description: 'Networks from which its tokens may be made and used, within those of the role.',
    default: [],
    maxLength: 16_384,
    check: networksComplaint('token_bound_cidrs'),
  }),
  num_uses: field.integer({
    description:
      'Logins, at most those of the role, which it has if not given; 0: no limit, if the role has none.',
    check: (uses) => (uses < 0 ? 'num_uses cannot be negative' : undefined),
  }),
  ttl: field.durationSeconds({
    description:
      'Lifetime, at most that of the role, which it has if not given; 0: it does not expire, if those of the role do not.',
  }),
} as const;

const make = async (
  context: AppRoleContext,
  request: OperationContext<FieldValues<typeof NEW_FIELDS>>,
  secretId: string | undefined,
) => {
  const { fields } = request;
  const made = await makeSecretId(context, requireMount(request), fields.role_name, {
    secretId,
    metadata: toMetadata(fields.metadata),
    cidrs: fields.cidr_list,
    tokenBoundCidrs: fields.token_bound_cidrs,
    numUses: fields.num_uses,
    ttlSeconds: fields.ttl,
  });
  return {
    data: {
      secret_id: made.secretId,
      secret_id_accessor: made.accessor,
      secret_id_num_uses: made.record.usesLeft,
      secret_id_ttl: made.record.ttlSeconds,
    },
  };
};

const timestamp = (epochMs: number): string => new Date(epochMs).toISOString();

const secretIdDocument = (accessor: string, secretId: SecretId): JsonObject => ({
  cidr_list: secretId.cidrs,
  creation_time: timestamp(secretId.createdAtMs),
  // The zero time of Go, which clients compare with.
  expiration_time:
    secretId.expiresAtMs === undefined ? '0001-01-01T00:00:00Z' : timestamp(secretId.expiresAtMs),
  last_updated_time: timestamp(secretId.updatedAtMs),
  metadata: secretId.metadata,
  secret_id_accessor: accessor,
  secret_id_num_uses: secretId.usesLeft,
  secret_id_ttl: secretId.ttlSeconds,
  token_bound_cidrs: secretId.tokenBoundCidrs,
});

const unknownAccessor = (accessor: string): never => {
  throw new KeelsonError('request.not_found', {
    text: `failed to find accessor entry for secret_id_accessor: "${accessor}"`,
  });
};

const byAccessor = (context: AppRoleContext): Route[] => [
  ...secretsRoutes({
    path: `${ROLE}/secret-id-accessor/lookup`,
    tag: TAG,
    fields: { role_name: NAME_FIELD, secret_id_accessor: ACCESSOR },
    operations: {
      update: {
        summary: 'Look up a secret id by its accessor',
        handle: async (request) => {
          const { role_name: name, secret_id_accessor: accessor } = request.fields;
          const mount = requireMount(request);
          const role = await requireRole(context.store, mount, name);
          const found = await findSecretId(context, context.store, mount, role, accessor);
          return { data: secretIdDocument(accessor, found ?? unknownAccessor(accessor)) };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${ROLE}/secret-id-accessor/destroy`,
    tag: TAG,
    fields: { role_name: NAME_FIELD, secret_id_accessor: ACCESSOR },
    operations: (() => {
      const destroy = {
        summary: 'Destroy a secret id by its accessor',
        handle: async (
          request: OperationContext<{
            readonly role_name: string;
            readonly secret_id_accessor: string;
          }>,
        ) => {
          const { role_name: name, secret_id_accessor: accessor } = request.fields;
          const mount = requireMount(request);
          const role = await requireRole(context.store, mount, name);
          if (!(await destroySecretId(context, mount, role, accessor))) unknownAccessor(accessor);
          return undefined;
        },
      };
      return { update: destroy, delete: destroy };
    })(),
  }),
];

const bySecretId = (context: AppRoleContext): Route[] => [
  ...secretsRoutes({
    path: `${ROLE}/secret-id/lookup`,
    tag: TAG,
    fields: { role_name: NAME_FIELD, secret_id: SECRET_ID },
    operations: {
      update: {
        summary: 'Look up a secret id; nothing is returned for an unknown one',
        handle: async (request) => {
          const { role_name: name, secret_id: secretId } = request.fields;
          const mount = requireMount(request);
          const role = await requireRole(context.store, mount, name);
          const accessor = accessorOf(digestOf(role.uuid, secretId));
          const found = await findSecretId(context, context.store, mount, role, accessor);
          return found && { data: secretIdDocument(accessor, found) };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${ROLE}/secret-id/destroy`,
    tag: TAG,
    fields: { role_name: NAME_FIELD, secret_id: SECRET_ID },
    operations: (() => {
      const destroy = {
        summary: 'Destroy a secret id',
        handle: async (
          request: OperationContext<{ readonly role_name: string; readonly secret_id: string }>,
        ) => {
          const { role_name: name, secret_id: secretId } = request.fields;
          const mount = requireMount(request);
          const role = await requireRole(context.store, mount, name);
          await destroySecretId(context, mount, role, accessorOf(digestOf(role.uuid, secretId)));
          return undefined;
        },
      };
      return { update: destroy, delete: destroy };
    })(),
  }),
];

export const secretIdRoutes = (context: AppRoleContext): Route[] => [
  ...secretsRoutes({
    path: `${ROLE}/secret-id`,
    tag: TAG,
    fields: { role_name: NAME_FIELD },
    operations: {
      list: {
        summary: 'List the accessors of the secret ids of a role',
        handle: async (request) => {
          const mount = requireMount(request);
          const role = await requireRole(context.store, mount, request.fields.role_name);
          return { data: { keys: await secretIdsOf(mount, role).keys(context.store) } };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${ROLE}/secret-id`,
    tag: TAG,
    fields: NEW_FIELDS,
    operations: {
      update: {
        summary: 'Make a secret id',
        handle: (request) => make(context, request, undefined),
      },
    },
  }),
  ...secretsRoutes({
    path: `${ROLE}/custom-secret-id`,
    tag: TAG,
    fields: { ...NEW_FIELDS, secret_id: SECRET_ID },
    operations: {
      update: {
        summary: 'Assign a secret id that the caller has chosen',
        handle: (request) => make(context, request, request.fields.secret_id),
      },
    },
  }),
  ...bySecretId(context),
  ...byAccessor(context),
  ...secretsRoutes({
    path: '/approle/tidy/secret-id',
    tag: TAG,
    fields: {},
    operations: {
      update: {
        summary: 'Remove secret ids that have expired or whose role is deleted',
        answer: ACCEPTED,
        handle: async (request) => {
          await tidySecretIds(context, requireMount(request));
          return {
            status: 202,
            warnings: ['The secret ids that had expired or whose role is deleted were removed.'],
          };
        },
      },
    },
  }),
];
