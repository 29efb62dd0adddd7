import type { Route } from '@keelson/edge';
import {
  type CheckTexts,
  endpoint,
  itemsOn,
  jsonApiRoutes,
  nullable,
  parseInclude,
  parsePage,
  type Resource,
  refuseInvalid,
  requireSameId,
  resourceBody,
  toPaginatedDocument,
  withWarnings,
} from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import { type Static, Type } from 'typebox';
import {
  findReadableProject,
  type OrganizationAccessResult,
  requireOrganization,
} from '../access/access-operations.ts';
import { hasAgents } from '../agents/agent-operations.ts';
import { toProjectResource } from '../projects/project-document.ts';
import { findSitePolicy } from '../retention/retention-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { toCamelKeys } from '../validation/attribute-names.ts';
import { attributeViolation } from '../validation/domain/violation.ts';
import { DEFAULT_POOL_RELATIONSHIPS, toDefaultPoolId } from '../workspaces/default-pool-request.ts';
import { EXECUTION_MODES } from '../workspaces/domain/execution.ts';
import { toEntitlementSetResource, toOrganizationResource } from './organization-document.ts';
import {
  checkOrganization,
  createOrganization,
  deleteOrganization,
  type GivenOrganization,
  listOrganizations,
  updateOrganization,
} from './organization-operations.ts';

/** Settings that are refused, because somebody would rely on them. */
const NOT_OFFERED: Readonly<Record<string, { readonly value: unknown; readonly text: string }>> = {
  'collaborator-auth-policy': {
    value: 'two_factor_mandatory',
    text: 'there is no two-factor authentication; the one policy is password',
  },
  'enforce-hyok': { value: true, text: 'encryption with keys of your own (HYOK) is not offered' },
  'max-ttl-enabled': {
    value: true,
    text: 'maximum lifetimes of tokens are not offered; tokens end at their own expired-at',
  },
  'registry-monorepo-support-enabled': { value: true, text: 'there is no private registry' },
};

/** Settings without effect that clients send with every organization: they are accepted, and the answer says so. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  'aggregated-commit-status-enabled': 'nothing is reported to repositories',
  'cost-estimation-enabled': 'the costs of runs are not estimated',
  'owners-team-saml-role-id': 'there is no single sign-on',
  'send-passing-statuses-for-untriggered-speculative-plans': 'nothing is reported to repositories',
  'session-remember': 'there are no sessions; tokens end at their own expired-at',
  'session-timeout': 'there are no sessions; tokens end at their own expired-at',
  'speculative-plan-management-enabled': 'pushes to repositories start no runs',
  'stacks-enabled': 'stacks are not offered',
};

const flag = Type.Optional(Type.Boolean());
const minutes = Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 525_600 })));

const attributes = {
  'session-timeout': minutes,
  'session-remember': minutes,
  'collaborator-auth-policy': Type.Optional(
    Type.Union([Type.Literal('password'), Type.Literal('two_factor_mandatory')]),
  ),
  'cost-estimation-enabled': flag,
  'send-passing-statuses-for-untriggered-speculative-plans': flag,
  'aggregated-commit-status-enabled': flag,
  'speculative-plan-management-enabled': flag,
  'assessments-enforced': flag,
  'enforce-hyok': flag,
  'max-ttl-enabled': flag,
  'registry-monorepo-support-enabled': flag,
  'stacks-enabled': flag,
  'user-tokens-enabled': flag,
  'allow-force-delete-workspaces': flag,
  'owners-team-saml-role-id': Type.Optional(nullable(Type.String({ maxLength: 255 }))),
  'default-execution-mode': Type.Optional(
    Type.Union(EXECUTION_MODES.map((mode) => Type.Literal(mode))),
  ),
  'default-agent-pool-id': Type.Optional(nullable(Type.String({ maxLength: 64 }))),
};

/** Its rule is told by the operation, with its length. */
const name = Type.String();
const email = Type.String({ maxLength: 255 });

const CREATE = resourceBody(
  'organizations',
  Type.Object({ ...attributes, name, email }),
  DEFAULT_POOL_RELATIONSHIPS,
);
const UPDATE_ATTRIBUTES = Type.Object({
  ...attributes,
  name: Type.Optional(name),
  email: Type.Optional(email),
});
const UPDATE = resourceBody('organizations', UPDATE_ATTRIBUTES, DEFAULT_POOL_RELATIONSHIPS);

/** @throws KeelsonError `jsonapi.invalid_attribute` for what is not offered */
const fromDocument = ({ data }: Static<typeof UPDATE>): GivenOrganization => {
  const {
    name: newName,
    'collaborator-auth-policy': _policy,
    'default-execution-mode': mode,
    'default-agent-pool-id': _pool,
    'enforce-hyok': _hyok,
    'max-ttl-enabled': _maxTtl,
    'registry-monorepo-support-enabled': _monorepo,
    'stacks-enabled': _stacks,
    ...settings
  } = data.attributes;
  refuseInvalid(
    Object.entries(NOT_OFFERED)
      .filter(([name, { value }]) => data.attributes[name as keyof typeof attributes] === value)
      .map(([name, { text }]) => attributeViolation(name, text)),
  );
  const agentPoolId = toDefaultPoolId(data);
  return { name: newName, settings: toCamelKeys(settings), execution: { mode, agentPoolId } };
};

/** Warnings for `meta` about requested settings that have no effect. */
const toWarnings = ({ data }: Static<typeof UPDATE>): readonly string[] =>
  Object.entries(WITHOUT_EFFECT)
    .filter(([name]) => Boolean(data.attributes[name as keyof typeof attributes]))
    .map(([name, reason]) => `${name} has no effect: ${reason}`);

/** Faults in the texts of a request, reported together with its other faults. */
const checkTexts: CheckTexts = ({ name, email }) =>
  checkOrganization({ name, settings: email === undefined ? {} : { email } });

const INCLUDES: ReadonlySet<string> = new Set(['default_project', 'entitlement_set']);

const loadIncluded = async (
  reads: Reads,
  include: ReadonlySet<string>,
  access: OrganizationAccessResult,
): Promise<readonly Resource[]> => {
  const { organization } = access;
  const project = include.has('default_project')
    ? await findReadableProject(reads, access, organization.defaultProjectId)
    : undefined;
  const canOperate = include.has('entitlement_set') && (await hasAgents(reads, organization.id));
  return [
    ...(project === undefined ? [] : [toProjectResource({ project, organization })]),
    ...(include.has('entitlement_set') ? [toEntitlementSetResource(access, canOperate)] : []),
  ];
};

const ONE = '/organizations/:organization_name';

export const organizationRoutes = (context: ServiceContext): Route[] => {
  const show = async (access: OrganizationAccessResult) =>
    toOrganizationResource(access, await findSitePolicy(context.store));
  return jsonApiRoutes('organizations', [
    endpoint({
      method: 'POST',
      path: '/organizations',
      summary: 'Create an organization',
      body: { schema: CREATE, check: checkTexts },
      success: 201,
      handle: async ({ principal, body }) => {
        const { name, email } = body.data.attributes;
        const access = await createOrganization(context, principal, {
          ...fromDocument(body),
          name,
          email,
        });
        return {
          document: {
            data: await show(access),
            included: [toEntitlementSetResource(access, false)],
            ...withWarnings(toWarnings(body)),
          },
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/organizations',
      summary: 'List organizations',
      handle: async ({ head, principal, query }) => {
        const all = await listOrganizations(
          context,
          principal,
          query.one('q') ?? query.one('q', 'name') ?? query.one('q', 'email'),
        );
        const isPaged = query.children('page').length > 0;
        // Without page parameters everything is one page.
        const page = isPaged ? parsePage(query) : { number: 1, size: Math.max(all.length, 1) };
        const sitePolicy = await findSitePolicy(context.store);
        const data = itemsOn(page, all).map((access) => toOrganizationResource(access, sitePolicy));
        return {
          document: toPaginatedDocument(head, { data, page, totalCount: all.length }),
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show an organization',
      handle: async ({ principal, params, query }) => {
        const include = parseInclude(query, INCLUDES);
        const name = params['organization_name'] ?? '';
        const access = await requireOrganization(context.store, principal, name);
        const data = await show(access);
        if (include.size === 0) return { document: { data } };
        return { document: { data, included: await loadIncluded(context.store, include, access) } };
      },
    }),
    // Early clients replace what they mean to change.
    ...(['PATCH', 'PUT'] as const).map((method) =>
      endpoint({
        method,
        path: ONE,
        summary: 'Update an organization',
        body: { schema: UPDATE, check: checkTexts },
        handle: async ({ principal, params, body }) => {
          const name = params['organization_name'] ?? '';
          requireSameId(body.data.id, name);
          const access = await updateOrganization(context, principal, name, fromDocument(body));
          return {
            document: { data: await show(access), ...withWarnings(toWarnings(body)) },
          };
        },
      }),
    ),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete an organization with its workspaces, whatever they manage',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteOrganization(context, principal, params['organization_name'] ?? '');
        return undefined;
      },
    }),
    endpoint({
      method: 'GET',
      path: `${ONE}/entitlement-set`,
      summary: 'Show what the organization may use',
      handle: async ({ principal, params }) => {
        const { store } = context;
        const access = await requireOrganization(
          store,
          principal,
          params['organization_name'] ?? '',
        );
        const canOperate = await hasAgents(store, access.organization.id);
        return { document: { data: toEntitlementSetResource(access, canOperate) } };
      },
    }),
  ]);
};
