import type { Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  nullable,
  parseInclude,
  parsePage,
  type Resource,
  resourceBody,
  toPaginatedDocument,
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
import { EXECUTION_MODES } from '../workspaces/domain/execution.ts';
import { toEntitlementSetResource, toOrganizationResource } from './organization-document.ts';
import {
  createOrganization,
  deleteOrganization,
  type GivenOrganization,
  listOrganizations,
  updateOrganization,
} from './organization-operations.ts';

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
  'allow-force-delete-workspaces': flag,
  'owners-team-saml-role-id': Type.Optional(nullable(Type.String({ maxLength: 255 }))),
  'default-execution-mode': Type.Optional(
    Type.Union(EXECUTION_MODES.map((mode) => Type.Literal(mode))),
  ),
  'default-agent-pool-id': Type.Optional(nullable(Type.String({ maxLength: 64 }))),
};

const name = Type.String({ maxLength: 255 });
const email = Type.String({ maxLength: 255 });

const CREATE = resourceBody('organizations', Type.Object({ ...attributes, name, email }));
const UPDATE_ATTRIBUTES = Type.Object({
  ...attributes,
  name: Type.Optional(name),
  email: Type.Optional(email),
});
const UPDATE = resourceBody('organizations', UPDATE_ATTRIBUTES);

const fromAttributes = (given: Static<typeof UPDATE_ATTRIBUTES>): GivenOrganization => {
  const {
    name: newName,
    'default-execution-mode': mode,
    'default-agent-pool-id': agentPoolId,
    ...settings
  } = given;
  return { name: newName, settings: toCamelKeys(settings), execution: { mode, agentPoolId } };
};

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
      body: { schema: CREATE },
      success: 201,
      handle: async ({ principal, body }) => {
        const given = body.data.attributes;
        const access = await createOrganization(context, principal, {
          ...fromAttributes(given),
          name: given.name,
          email: given.email,
        });
        return {
          document: {
            data: await show(access),
            included: [toEntitlementSetResource(access, false)],
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
        body: { schema: UPDATE },
        handle: async ({ principal, params, body }) => ({
          document: {
            data: await show(
              await updateOrganization(
                context,
                principal,
                params['organization_name'] ?? '',
                fromAttributes(body.data.attributes),
              ),
            ),
          },
        }),
      }),
    ),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete an organization without workspaces',
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
