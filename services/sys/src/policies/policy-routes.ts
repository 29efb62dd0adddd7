/** `sys/policies/acl` and its older form `sys/policy`. */
import type { Route } from '@keelson/edge';
import { field, mirrored, type OperationContext, secretsRoutes } from '@keelson/secrets-api';
import type { PolicyBook } from './policy-book.ts';
import {
  deletePolicy,
  findPolicyText,
  listPolicies,
  type PolicyContext,
  writePolicy,
} from './policy-operations.ts';
import { policyKey } from './policy-records.ts';

const TAG = 'policies';

const FIELDS = {
  name: field.string({ description: 'Name of the policy.', default: '' }),
  policy: field.string({ description: 'HCL or JSON text, also in base64.', default: '' }),
} as const;

const OLDER_FIELDS = {
  ...FIELDS,
  rules: field.string({ description: 'Older name of policy.', default: '' }),
} as const;

type Exchange = OperationContext<{ readonly name: string; readonly policy: string }>;

export const policyRoutes = (
  context: PolicyContext,
  policies: () => Promise<PolicyBook>,
): Route[] => {
  const write = async ({ namespace, fields }: Exchange): Promise<undefined> => {
    await writePolicy(context, namespace.id, fields.name, fields.policy);
  };
  const remove = async ({ namespace, fields }: Exchange): Promise<undefined> => {
    await deletePolicy(context, namespace.id, fields.name);
  };
  const list = async ({ namespace, warnings }: OperationContext<unknown>): Promise<string[]> => {
    const keys = await listPolicies(context, namespace.id);
    const { damaged } = await policies();
    for (const name of keys)
      if (damaged.has(policyKey(namespace.id, name)))
        warnings.push(
          `the policy "${name}" is damaged and cannot be read: tokens with it may do nothing until it is written again`,
        );
    return keys;
  };
  const oldList = async (exchange: OperationContext<unknown>) => {
    const keys = await list(exchange);
    return mirrored({ keys, policies: keys });
  };

  return [
    ...secretsRoutes({
      path: '/sys/policies/acl',
      tag: TAG,
      fields: {},
      operations: {
        list: {
          summary: 'List policies',
          handle: async (exchange) => ({ data: { keys: await list(exchange) } }),
        },
      },
    }),
    ...secretsRoutes({
      path: '/sys/policies/acl/:name',
      tag: TAG,
      fields: FIELDS,
      operations: {
        read: {
          summary: 'Read a policy',
          handle: async ({ namespace, fields }) => {
            const name = fields.name.toLowerCase();
            const policy = await findPolicyText(context, namespace.id, name);
            return policy === undefined ? undefined : { data: { name, policy } };
          },
        },
        update: { summary: 'Create or replace a policy', handle: write },
        delete: { summary: 'Delete a policy', handle: remove },
      },
    }),
    ...secretsRoutes({
      path: '/sys/policy',
      tag: TAG,
      fields: {},
      operations: {
        read: { summary: 'List policies (older form)', handle: oldList },
        list: { summary: 'List policies (older form)', handle: oldList },
      },
    }),
    ...secretsRoutes({
      path: '/sys/policy/:name',
      tag: TAG,
      fields: OLDER_FIELDS,
      operations: {
        read: {
          summary: 'Read a policy (older form)',
          handle: async ({ namespace, fields }) => {
            const name = fields.name.toLowerCase();
            const rules = await findPolicyText(context, namespace.id, name);
            return rules === undefined ? undefined : mirrored({ name, policy: rules, rules });
          },
        },
        update: {
          summary: 'Create or replace a policy (older form)',
          handle: async (exchange) => {
            const { fields, warnings } = exchange;
            if (fields.policy !== '' || fields.rules === '') return write(exchange);
            warnings.push("'rules' is deprecated, please use 'policy' instead");
            return write({ ...exchange, fields: { ...fields, policy: fields.rules } });
          },
        },
        delete: { summary: 'Delete a policy (older form)', handle: remove },
      },
    }),
  ];
};
