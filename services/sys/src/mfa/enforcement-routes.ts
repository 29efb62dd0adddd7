/** `identity/mfa/login-enforcement`: the logins that need a second factor. */
import type { Route } from '@keelson/edge';
import { field, secretsRoutes } from '@keelson/secrets-api';
import {
  deleteEnforcement,
  listEnforcementsOf,
  putEnforcement,
  readEnforcement,
} from './enforcement-operations.ts';
import { TAG } from './method-routes.ts';
import type { MfaContext } from './mfa-context.ts';
import { enforcementDocument, listDocument } from './mfa-document.ts';

const BASE = '/identity/mfa/login-enforcement';
const MAX_LIST = 16_384;

const list = (description: string) =>
  field.commaList({ description, default: [], maxLength: MAX_LIST });

const FIELDS = {
  name: field.string({
    description: 'Name of the enforcement.',
    default: '',
    check: (text) =>
      /^[\w.-]{1,128}$/.test(text)
        ? undefined
        : 'the name of a login enforcement has 1 to 128 letters, digits and the characters _ . -',
  }),
  mfa_method_ids: list('Ids of methods, of which any is enough.'),
  auth_method_accessors: list('Accessors of the mounts whose logins need a second factor.'),
  auth_method_types: list('Types of the mounts whose logins need a second factor.'),
  identity_group_ids: list('Ids of the groups whose members need a second factor.'),
  identity_entity_ids: list('Ids of the entities that need a second factor.'),
} as const;

export const loginEnforcementRoutes = (context: MfaContext): Route[] => [
  ...secretsRoutes({
    path: BASE,
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: 'List the login enforcements of the namespace',
        handle: async ({ namespace }) => {
          const found = await listEnforcementsOf(context, namespace.id);
          return {
            data: listDocument(
              found.map((one) => [one.name, enforcementDocument(one, namespace.path)] as const),
            ),
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/:name`,
    tag: TAG,
    hasSettings: true,
    fields: FIELDS,
    operations: {
      read: {
        summary: 'Read a login enforcement',
        handle: async ({ namespace, fields }) => {
          const found = await readEnforcement(context, namespace.id, fields.name);
          return found && { data: enforcementDocument(found, namespace.path) };
        },
      },
      update: {
        summary: 'Create or replace a login enforcement; it also holds in the namespaces below',
        handle: async ({ namespace, fields }) => {
          await putEnforcement(context, namespace.id, {
            name: fields.name,
            methodIds: [...fields.mfa_method_ids],
            mountAccessors: [...fields.auth_method_accessors],
            mountTypes: [...fields.auth_method_types],
            groupIds: [...fields.identity_group_ids],
            entityIds: [...fields.identity_entity_ids],
          });
          return undefined;
        },
      },
      delete: {
        summary: 'Delete a login enforcement',
        handle: async ({ namespace, fields }) => {
          await deleteEnforcement(context, namespace.id, fields.name);
          return undefined;
        },
      },
    },
  }),
];
