import type { Route } from '@keelson/edge';
import {
  type CheckTexts,
  endpoint,
  type Includes,
  itemsOn,
  jsonApiRoutes,
  nullable,
  one,
  pageOf,
  parseInclude,
  parsePage,
  type Resource,
  type ResourceOf,
  requireSameId,
  resourceBody,
  toPaginatedDocument,
  type UnsupportedFields,
} from '@keelson/jsonapi';
import { type Static, type TSchema, Type } from 'typebox';
import {
  DEFAULT_POOL_RELATIONSHIPS,
  toDefaultPoolId,
} from '../../base/execution/default-pool-request.ts';
import { EXECUTION_MODES } from '../../base/execution/domain/execution.ts';
import { IncludedResources } from '../../base/included-resources.ts';
import { findSitePolicy } from '../../base/retention/retention-records.ts';
import { toCamelKeys } from '../../base/validation/attribute-names.ts';
import {
  type OrganizationAccessResult,
  requireOrganization,
} from '../access/organization-access-operations.ts';
import { findSsoSettings } from '../model/credential-records.ts';
import { hasGroups } from '../model/domain/sso-settings.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import type { ContributedEntitlements } from '../seams/organization-contributions.ts';
import {
  type ENTITLEMENT_SET,
  toEntitlementSetResource,
  toOrganizationResource,
} from './organization-document.ts';
import {
  checkOrganization,
  createOrganization,
  deleteOrganization,
  listOrganizations,
  type OrganizationInput,
  updateOrganization,
} from './organization-operations.ts';

/** Settings that are refused rather than ignored, because a caller would rely on them. */
const NOT_OFFERED: UnsupportedFields = {
  'attributes/enforce-hyok': 'encryption with keys of your own (HYOK) is not offered',
  'attributes/registry-monorepo-support-enabled': 'there is no private registry',
};

/** Settings without effect that clients send with every organization. */
const WITHOUT_EFFECT: UnsupportedFields = {
  'attributes/aggregated-commit-status-enabled': 'each run reports a status of its own',
  'attributes/cost-estimation-enabled': 'the costs of runs are not estimated',
  'attributes/owners-team-saml-role-id': 'the owners team has an sso-team-id, as every team may',
  'attributes/send-passing-statuses-for-untriggered-speculative-plans':
    'commits that concern no workspace are not reported on',
  'attributes/session-remember': 'sessions end as the site says, for all organizations',
  'attributes/session-timeout': 'sessions end as the site says, for all organizations',
  'attributes/speculative-plan-management-enabled': 'plans of superseded commits are not canceled',
  'attributes/stacks-enabled': 'stacks are not offered',
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
  'members-leave-with-last-team': flag,
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

/** The operation checks form and length, so that its error can describe the rule. */
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

const fromDocument = ({ data }: Static<typeof UPDATE>): OrganizationInput => {
  const {
    name: newName,
    'default-execution-mode': mode,
    'default-agent-pool-id': _pool,
    'enforce-hyok': _hyok,
    'registry-monorepo-support-enabled': _monorepo,
    'stacks-enabled': _stacks,
    ...settings
  } = data.attributes;
  const agentPoolId = toDefaultPoolId(data);
  return { name: newName, settings: toCamelKeys(settings), execution: { mode, agentPoolId } };
};

/** Validation errors of the texts in a request, reported together with its other errors. */
const checkTexts: CheckTexts = ({ name, email }) =>
  checkOrganization({ name, settings: email === undefined ? {} : { email } });

const ofOrganization = <S extends TSchema>(schema: S) => ({
  schema,
  check: checkTexts,
  notOffered: NOT_OFFERED,
  withoutEffect: WITHOUT_EFFECT,
});

const loadEntitlementSet = async (
  { store, organizationContributions }: IdentityContext,
  access: OrganizationAccessResult,
): Promise<ResourceOf<typeof ENTITLEMENT_SET>> => {
  const { id } = access.organization;
  const given = await Promise.all(
    organizationContributions.map(async (contribution) => contribution.entitlements?.(store, id)),
  );
  const sso = hasGroups(await findSsoSettings(store));
  return toEntitlementSetResource(
    access,
    sso,
    Object.assign({}, ...given) as ContributedEntitlements,
  );
};

const INCLUDED_SET = 'entitlement_set';

const toIncludes = ({ organizationContributions }: IdentityContext): Includes => {
  const contributed = organizationContributions.flatMap(({ includes = {} }) =>
    Object.entries(includes).map(([name, { types }]) => [name, types] as const),
  );
  return { [INCLUDED_SET]: ['entitlement-sets'], ...Object.fromEntries(contributed) };
};

const loadIncluded = async (
  context: IdentityContext,
  include: ReadonlySet<string>,
  access: OrganizationAccessResult,
): Promise<readonly Resource[]> => {
  const contributed = context.organizationContributions.flatMap(({ includes = {} }) =>
    Object.entries(includes).flatMap(([name, { load }]) => (include.has(name) ? [load] : [])),
  );
  const included = new IncludedResources();
  for (const load of contributed) await included.add(load(context.store, access));
  if (include.has(INCLUDED_SET)) await included.add(loadEntitlementSet(context, access));
  return included.all;
};

const ONE = '/organizations/:organization_name';

export const organizationRoutes = (context: IdentityContext): Route[] => {
  const includes = toIncludes(context);
  const show = async (access: OrganizationAccessResult) =>
    toOrganizationResource(access, await findSitePolicy(context.store));
  return jsonApiRoutes('organizations', [
    endpoint({
      method: 'POST',
      path: '/organizations',
      summary: 'Create an organization',
      answers: one('organizations', { alwaysIncluded: ['entitlement-sets'] }),
      body: ofOrganization(CREATE),
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
            included: [await loadEntitlementSet(context, access)],
          },
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/organizations',
      summary: 'List organizations',
      query: {
        q: { description: 'Part of the name or mail address.' },
        'q[name]': { description: 'As `q`, which goes before it.' },
        'q[email]': { description: 'As `q`, which goes before it.' },
      },
      answers: pageOf('organizations'),
      handle: async ({ head, principal, query }) => {
        const all = await listOrganizations(
          context,
          principal,
          query.one('q') ?? query.one('q', 'name') ?? query.one('q', 'email'),
        );
        const isPaged = query.children('page').length > 0;
        // Without page parameters the response is a single page.
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
      answers: one('organizations', { includes }),
      handle: async ({ principal, params, query }) => {
        const include = parseInclude(query, includes);
        const name = params.organization_name;
        const access = await requireOrganization(context.store, principal, name);
        const data = await show(access);
        if (include.size === 0) return { document: { data } };
        return { document: { data, included: await loadIncluded(context, include, access) } };
      },
    }),
    // Early clients send PUT with the same partial document as PATCH.
    ...(['PATCH', 'PUT'] as const).map((method) =>
      endpoint({
        method,
        path: ONE,
        summary: 'Update an organization',
        answers: one('organizations'),
        body: ofOrganization(UPDATE),
        handle: async ({ principal, params, body }) => {
          const name = params.organization_name;
          requireSameId(body.data.id, name);
          const access = await updateOrganization(context, principal, name, fromDocument(body));
          return { document: { data: await show(access) } };
        },
      }),
    ),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete an organization with its workspaces, whatever they manage',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteOrganization(context, principal, params.organization_name);
        return undefined;
      },
    }),
    endpoint({
      method: 'GET',
      path: `${ONE}/entitlement-set`,
      summary: 'Show the entitlements of an organization',
      answers: one('entitlement-sets'),
      handle: async ({ principal, params }) => {
        const { store } = context;
        const access = await requireOrganization(store, principal, params.organization_name);
        return { document: { data: await loadEntitlementSet(context, access) } };
      },
    }),
  ]);
};
