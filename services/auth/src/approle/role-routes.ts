/** `approle/role`: roles, and their parameters one by one. */
import type { Route } from '@keelson/edge';
import { NAME_FIELD, requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { type FieldValues, field, type JsonObject, secretsRoutes } from '@keelson/secrets-api';
import { nameListRoutes } from '../logins/name-list-routes.ts';
import {
  changedTokenSettings,
  networksComplaint,
  olderTokenDocument,
  TOKEN_FIELDS,
  tokenSettingsDocument,
} from '../logins/token-fields.ts';
import { roleRecords } from './approle-records.ts';
import type { AppRole } from './domain/app-role.ts';
import { changeRole, deleteRole, findRole, requireRole } from './role-operations.ts';
import type { AppRoleContext } from './secret-id-operations.ts';

const TAG = 'approle';
const ROLE = '/approle/role/:role_name';

const ROLE_ID = field.string({
  description: 'Id of the role, which a login names; a random one if it is not given.',
  maxLength: 128,
  check: (id) =>
    /^[\w.@+ -]+$/.test(id)
      ? undefined
      : 'role_id may have letters, digits, spaces and the characters _ . @ + - only',
});

const SETTINGS = {
  bind_secret_id: field.bool({ description: 'Whether a login needs a secret id (default true).' }),
  secret_id_bound_cidrs: field.commaList({
    description: 'Networks from which clients may sign in.',
    maxLength: 16_384,
    check: networksComplaint('secret_id_bound_cidrs'),
  }),
  secret_id_num_uses: field.integer({
    description: 'Logins with a secret id; 0: no limit.',
    check: (uses) => (uses < 0 ? 'secret_id_num_uses cannot be negative' : undefined),
  }),
  secret_id_ttl: field.durationSeconds({
    description: 'Lifetime of a secret id; 0: it does not expire.',
  }),
  ...TOKEN_FIELDS,
} as const;

const ROLE_FIELDS = {
  role_name: NAME_FIELD,
  role_id: ROLE_ID,
  local_secret_ids: field.bool({
    description:
      'Whether secret ids are of the cluster that made them alone. Fixed when the role is created.',
  }),
  ...SETTINGS,
} as const;

const roleDocument = (role: AppRole): JsonObject => ({
  bind_secret_id: role.bindSecretId,
  local_secret_ids: role.localSecretIds,
  secret_id_bound_cidrs: role.secretIdBoundCidrs,
  secret_id_num_uses: role.secretIdNumUses,
  secret_id_ttl: role.secretIdTtlSeconds,
  ...tokenSettingsDocument(role.token),
  ...olderTokenDocument(role.token, ['policies', 'period']),
});

const withSettings = (role: AppRole, given: Partial<FieldValues<typeof SETTINGS>>): AppRole => ({
  ...role,
  bindSecretId: given.bind_secret_id ?? role.bindSecretId,
  secretIdBoundCidrs: [...(given.secret_id_bound_cidrs ?? role.secretIdBoundCidrs)],
  secretIdNumUses: given.secret_id_num_uses ?? role.secretIdNumUses,
  secretIdTtlSeconds: given.secret_id_ttl ?? role.secretIdTtlSeconds,
  token: changedTokenSettings(role.token, given),
});

const withRoleSettings =
  (given: FieldValues<typeof ROLE_FIELDS>) =>
  (role: AppRole, isNew: boolean): AppRole => {
    const localSecretIds = given.local_secret_ids ?? role.localSecretIds;
    if (!isNew && localSecretIds !== role.localSecretIds)
      throw new KeelsonError('request.invalid', {
        text: 'local_secret_ids can only be modified during role creation',
      });
    return {
      ...withSettings(role, given),
      localSecretIds,
      roleId: given.role_id ?? role.roleId,
    };
  };

/** Paths of single parameters, with the members of the document that they read. */
const SINGLE_PARAMETERS = {
  policies: ['token_policies'],
  'bind-secret-id': ['bind_secret_id'],
  'secret-id-bound-cidrs': ['secret_id_bound_cidrs'],
  'secret-id-num-uses': ['secret_id_num_uses'],
  'secret-id-ttl': ['secret_id_ttl'],
  'token-ttl': ['token_ttl'],
  'token-max-ttl': ['token_max_ttl'],
  'token-num-uses': ['token_num_uses'],
  'token-bound-cidrs': ['token_bound_cidrs'],
  period: ['token_period'],
} as const satisfies Readonly<Record<string, readonly (keyof typeof SETTINGS)[]>>;

/** The values that a single parameter has when it is deleted. */
const RESET = {
  token_policies: [],
  bind_secret_id: true,
  secret_id_bound_cidrs: [],
  secret_id_num_uses: 0,
  secret_id_ttl: 0,
  token_ttl: 0,
  token_max_ttl: 0,
  token_num_uses: 0,
  token_bound_cidrs: [],
  token_period: 0,
} as const;

const OLDER_NAMES = { policies: 'policies', period: 'period' } as const;

const parameterRoutes = ({ store }: AppRoleContext): Route[] =>
  Object.entries(SINGLE_PARAMETERS).flatMap(([path, [name]]) => {
    const older = OLDER_NAMES[path as keyof typeof OLDER_NAMES];
    return secretsRoutes({
      path: `${ROLE}/${path}`,
      tag: TAG,
      hasSettings: true,
      fields: {
        role_name: NAME_FIELD,
        [name]: SETTINGS[name],
        ...(older !== undefined && { [older]: SETTINGS[older] }),
      },
      operations: {
        read: {
          summary: `Read ${name} of a role`,
          handle: async (context) => {
            const role = await findRole(
              store,
              requireMount(context),
              context.params['role_name'] ?? '',
            );
            return role && { data: { [name]: roleDocument(role)[name] } };
          },
        },
        update: {
          summary: `Set ${name} of a role`,
          handle: async (context) => {
            const mount = requireMount(context);
            const roleName = context.params['role_name'] ?? '';
            await requireRole(store, mount, roleName);
            const given = context.fields as Partial<FieldValues<typeof SETTINGS>>;
            await changeRole(store, mount, roleName, (role) => withSettings(role, given));
            return undefined;
          },
        },
        delete: {
          summary: `Reset ${name} of a role`,
          handle: async (context) => {
            const mount = requireMount(context);
            const roleName = context.params['role_name'] ?? '';
            await requireRole(store, mount, roleName);
            await changeRole(store, mount, roleName, (role) =>
              withSettings(role, { [name]: RESET[name] }),
            );
            return undefined;
          },
        },
      },
    });
  });

export const roleRoutes = (context: AppRoleContext): Route[] => {
  const { store } = context;
  return [
    ...nameListRoutes({
      path: '/approle/role',
      tag: TAG,
      summary: 'List roles',
      namesAt: (mount) => roleRecords(mount).keys(store),
    }),
    ...secretsRoutes({
      path: ROLE,
      tag: TAG,
      hasSettings: true,
      fields: ROLE_FIELDS,
      operations: {
        read: {
          summary: 'Read a role',
          handle: async (request) => {
            const role = await findRole(store, requireMount(request), request.fields.role_name);
            return role && { data: roleDocument(role) };
          },
        },
        update: {
          summary: 'Create a role or change it; parameters that are not given stay as they are',
          handle: async (request) => {
            const { fields } = request;
            await changeRole(
              store,
              requireMount(request),
              fields.role_name,
              withRoleSettings(fields),
            );
            return undefined;
          },
        },
        delete: {
          summary: 'Delete a role with its secret ids',
          handle: async (request) => {
            await deleteRole(store, requireMount(request), request.fields.role_name);
            return undefined;
          },
        },
      },
    }),
    ...secretsRoutes({
      path: `${ROLE}/role-id`,
      tag: TAG,
      hasSettings: true,
      fields: { role_name: NAME_FIELD, role_id: ROLE_ID },
      operations: {
        read: {
          summary: 'Read the id of a role',
          handle: async (request) => {
            const role = await findRole(store, requireMount(request), request.fields.role_name);
            return role && { data: { role_id: role.roleId } };
          },
        },
        update: {
          summary: 'Set the id of a role',
          handle: async (request) => {
            const { role_name: name, role_id: roleId } = request.fields;
            if (roleId === undefined)
              throw new KeelsonError('request.invalid', { text: 'missing role_id' });
            const mount = requireMount(request);
            await requireRole(store, mount, name);
            await changeRole(store, mount, name, (role) => ({ ...role, roleId }));
            return undefined;
          },
        },
      },
    }),
    ...parameterRoutes(context),
  ];
};
