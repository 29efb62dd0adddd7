import type { Route } from '@keelson/edge';
import {
  field,
  mirrored,
  type OperationContext,
  type PageChoice,
  pageOf,
  propertiesOf,
  secretsRoutes,
} from '@keelson/secrets-api';
import {
  olderPolicyDocument,
  olderPolicyListDocument,
  policyDocument,
  policyListDocument,
} from './policy-document.ts';
import {
  deletePolicy,
  findPolicy,
  listPolicies,
  type PolicyContext,
  type PolicyNames,
  writePolicy,
} from './policy-operations.ts';

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

const TEXT = { type: 'string' } as const;
const TEXTS = { type: 'array', items: TEXT } as const;
const OLDER_LIST = { mirrored: { keys: TEXTS, policies: TEXTS } } as const;

/** `sys/policies/acl`, and its older form `sys/policy`. */
export const policyRoutes = (context: PolicyContext): Route[] => {
  const write = async ({ namespace, fields }: Exchange): Promise<undefined> => {
    await writePolicy(context, namespace.id, fields.name, fields.policy);
  };
  const remove = async ({ namespace, fields }: Exchange): Promise<undefined> => {
    await deletePolicy(context, namespace.id, fields.name);
  };
  const list = async ({ namespace, warnings }: OperationContext<unknown>): Promise<PolicyNames> => {
    const found = await listPolicies(context, namespace.id);
    for (const name of found.damaged)
      warnings.push(
        `the policy "${name}" is damaged and cannot be read: tokens with it may do nothing until it is written again`,
      );
    return found;
  };
  const oldList = async (exchange: OperationContext<unknown>, page?: PageChoice) => {
    const { names } = await list(exchange);
    return mirrored(olderPolicyListDocument(page === undefined ? names : pageOf(names, page)));
  };

  return [
    ...secretsRoutes({
      path: '/sys/policies/acl',
      tag: TAG,
      fields: {},
      operations: {
        list: {
          summary: 'List policies',
          handle: async (exchange) => ({ data: policyListDocument(await list(exchange)) }),
        },
      },
    }),
    ...secretsRoutes({
      path: '/sys/policies/acl/:name',
      tag: TAG,
      fields: FIELDS,
      hasSettings: true,
      operations: {
        read: {
          summary: 'Read a policy',
          answer: { data: propertiesOf(FIELDS) },
          handle: async ({ namespace, fields }) => {
            const policy = await findPolicy(context, namespace.id, fields.name);
            return policy && { data: policyDocument(policy) };
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
        read: {
          summary: 'List policies (older form)',
          answer: OLDER_LIST,
          handle: (exchange) => oldList(exchange),
        },
        list: {
          summary: 'List policies (older form)',
          answer: OLDER_LIST,
          pagesItself: true,
          handle: (exchange) => oldList(exchange, exchange.fields),
        },
      },
    }),
    ...secretsRoutes({
      path: '/sys/policy/:name',
      tag: TAG,
      fields: OLDER_FIELDS,
      hasSettings: true,
      operations: {
        read: {
          summary: 'Read a policy (older form)',
          answer: {
            mirrored: { name: TEXT, policy: TEXT, rules: TEXT },
          },
          handle: async ({ namespace, fields }) => {
            const policy = await findPolicy(context, namespace.id, fields.name);
            return policy && mirrored(olderPolicyDocument(policy));
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
