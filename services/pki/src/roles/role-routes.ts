import type { Route } from '@keelson/edge';
import { NAME_FIELD, requireMount, requireName } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { propertiesOf, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { deleteRole, findRole, storeRole } from './role-operations.ts';
import {
  ROLE_FIELDS,
  type RoleParameters,
  roleDocument,
  toRole,
  toRoleParameters,
} from './role-parameters.ts';
import { roleRecords } from './role-records.ts';

type Parameter = keyof typeof ROLE_FIELDS;

/** Parameters that a merge patch sets; null resets a parameter to its default. */
const patchedParameters = (
  values: Partial<Readonly<Record<Parameter, unknown>>>,
  given: ReadonlySet<string>,
): Partial<RoleParameters> =>
  Object.fromEntries(
    (Object.keys(ROLE_FIELDS) as Parameter[])
      .filter((name) => given.has(name))
      .map((name) => [name, values[name] ?? ROLE_FIELDS[name].read(name, undefined)]),
  );

export const roleRoutes = (store: Store): Route[] => [
  ...secretsRoutes({
    path: '/roles',
    tag: 'roles',
    fields: {},
    operations: {
      list: {
        summary: 'List roles',
        handle: async (context) => ({
          data: { keys: await roleRecords(requireMount(context)).keys(store) },
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: '/roles/:name',
    tag: 'roles',
    hasSettings: true,
    fields: { name: NAME_FIELD, ...ROLE_FIELDS },
    operations: {
      read: {
        summary: 'Read a role',
        answer: {
          data: { ...propertiesOf(ROLE_FIELDS), allow_token_displayname: { type: 'boolean' } },
        },
        handle: async (context) => {
          const role = await findRole(store, requireMount(context), context.fields.name);
          return role && { data: roleDocument(role, context.dialect) };
        },
      },
      delete: {
        summary: 'Delete a role',
        handle: async (context) => {
          await deleteRole(store, requireMount(context), requireName(context.fields.name));
          return undefined;
        },
      },
      update: {
        summary: 'Create a role or replace it',
        handle: async (context) => {
          const mount = requireMount(context);
          const { role, warnings } = await storeRole(store, {
            mount,
            mountMaxTtlSeconds: mount.maxLeaseTtlSeconds,
            name: requireName(context.fields.name),
            change: () => toRole(context.fields),
          });
          return { data: roleDocument(role, context.dialect), warnings };
        },
      },
      patch: {
        summary: 'Change given parameters of a role',
        handle: async (context) => {
          const mount = requireMount(context);
          const { name, ...values } = context.fields;
          const { role, warnings } = await storeRole(store, {
            mount,
            mountMaxTtlSeconds: mount.maxLeaseTtlSeconds,
            name: requireName(name ?? ''),
            change: (existing) => {
              if (existing === undefined)
                throw new KeelsonError('request.invalid', {
                  text: 'Unable to fetch role entry to patch',
                });
              return toRole({
                ...toRoleParameters(existing),
                ...patchedParameters(values, context.given),
              });
            },
          });
          return { data: roleDocument(role, context.dialect), warnings };
        },
      },
    },
  }),
];
