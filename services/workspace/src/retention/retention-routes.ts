import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  invalidAttribute,
  jsonApiRoutes,
  type Resource,
  resourceBody,
  toOne,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import type { ServiceContext } from '../service-context.ts';
import {
  MAX_RETENTION_DAYS,
  RETENTION_TYPES,
  type RetentionRule,
} from './domain/retention-policy.ts';
import {
  loadRetentionPolicy,
  type RetentionTarget,
  removeRetentionPolicy,
  setRetentionPolicy,
  type TargetedPolicy,
} from './retention-operations.ts';

// The type of early clients; it always deletes.
const EARLY_TYPE = 'data-retention-policies';

const BODY = resourceBody(
  [...Object.values(RETENTION_TYPES), EARLY_TYPE],
  Type.Object({
    'delete-older-than-n-days': Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_RETENTION_DAYS }),
    ),
  }),
);

const toRule = ({ data }: Static<typeof BODY>): RetentionRule => {
  if (data.type === RETENTION_TYPES['never-delete']) return { kind: 'never-delete' };
  const days = data.attributes['delete-older-than-n-days'];
  if (days === undefined) {
    throw invalidAttribute(
      '/data/attributes/delete-older-than-n-days',
      'delete-older-than-n-days is required',
    );
  }
  return { kind: 'delete-older', days };
};

const toResource = ({ policy, target }: TargetedPolicy): Resource => ({
  id: policy.id,
  type: RETENTION_TYPES[policy.rule.kind],
  attributes:
    policy.rule.kind === 'never-delete' ? {} : { 'delete-older-than-n-days': policy.rule.days },
  relationships: { target: target === null ? { data: null } : toOne(target.type, target.id) },
});

const RELATIONSHIP = 'relationships/data-retention-policy';

type Params = Readonly<Record<string, string>>;

export const retentionRoutes = (context: ServiceContext): Route[] => {
  const onTarget = (
    path: string,
    name: string,
    toTarget: (params: Params) => RetentionTarget,
  ): readonly Endpoint[] => {
    const write = (method: 'POST' | 'PATCH'): Endpoint =>
      endpoint({
        method,
        path,
        summary: `Set the data retention policy of ${name}; POST without a body shows it`,
        body: {
          schema: BODY,
          optional: method === 'POST',
          aliases: { deleteOlderThanNDays: 'delete-older-than-n-days' },
        },
        handle: async ({ principal, params, body }) => {
          const target = toTarget(params);
          const found =
            body === undefined
              ? await loadRetentionPolicy(context, principal, target)
              : await setRetentionPolicy(context, principal, target, toRule(body));
          return { document: { data: toResource(found) } };
        },
      });
    return [
      write('POST'),
      write('PATCH'),
      endpoint({
        method: 'GET',
        path,
        summary: `Show the data retention policy of ${name}`,
        handle: async ({ principal, params }) => ({
          document: {
            data: toResource(await loadRetentionPolicy(context, principal, toTarget(params))),
          },
        }),
      }),
      endpoint({
        method: 'DELETE',
        path,
        summary: `Remove the data retention policy of ${name}`,
        success: 204,
        handle: async ({ principal, params }) => {
          await removeRetentionPolicy(context, principal, toTarget(params));
          return undefined;
        },
      }),
    ];
  };
  return jsonApiRoutes('data retention', [
    ...onTarget(`/workspaces/:workspace_id/${RELATIONSHIP}`, 'a workspace', (params) => ({
      workspaceId: params['workspace_id'] ?? '',
    })),
    ...onTarget(
      `/organizations/:organization_name/${RELATIONSHIP}`,
      'an organization',
      (params) => ({
        organizationName: params['organization_name'] ?? '',
      }),
    ),
    ...onTarget('/admin/data-retention-policy-settings', 'the site', () => ({ site: true })),
  ]);
};
