/** Routes by which site administrators switch organizations off, and drain them. */
import type { Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  one,
  pageOf,
  parsePage,
  resourceBody,
  toPaginatedDocument,
  type UnsupportedFields,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { findSitePolicy } from '../../base/retention/retention-records.ts';
import { toManagedOrganizationResource } from '../organizations/organization-document.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import {
  listAllOrganizations,
  type ManagedOrganization,
  showAnyOrganization,
  switchOrganization,
} from './organization-administration-operations.ts';

const UPDATE = resourceBody(
  'organizations',
  Type.Object({
    'is-disabled': Type.Optional(Type.Boolean()),
    'is-draining': Type.Optional(Type.Boolean()),
  }),
);

const SHARING = 'modules and providers are not shared, as there is no private registry';
const TIME_LIMIT =
  'the time of a phase is limited by KEELSON_RUNNER_TIME_LIMIT_SECONDS, for all organizations';
const NOT_OFFERED: UnsupportedFields = {
  'attributes/access-beta-tools': 'there are no prereleases of tools to choose',
  'attributes/global-module-sharing': SHARING,
  'attributes/global-provider-sharing': SHARING,
  'attributes/terraform-build-worker-apply-timeout': TIME_LIMIT,
  'attributes/terraform-build-worker-plan-timeout': TIME_LIMIT,
  'attributes/workspace-limit': 'the number of workspaces is not limited',
};

const ONE = '/admin/organizations/:organization_name';

export const organizationAdministrationRoutes = (context: IdentityContext): Route[] => {
  const shown = async ({ organization, state }: ManagedOrganization) => ({
    document: {
      data: toManagedOrganizationResource(organization, state, await findSitePolicy(context.store)),
    },
  });
  return jsonApiRoutes('organizations', [
    endpoint({
      method: 'GET',
      path: '/admin/organizations',
      summary: 'List the organizations of the site (site administrators)',
      query: { q: { description: 'Part of the name or mail address.' } },
      answers: pageOf('organizations'),
      handle: async ({ head, principal, query }) => {
        const page = parsePage(query);
        const all = await listAllOrganizations(context, principal, query.one('q') ?? '');
        const sitePolicy = await findSitePolicy(context.store);
        const data = itemsOn(page, all).map(({ organization, state }) =>
          toManagedOrganizationResource(organization, state, sitePolicy),
        );
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show an organization of the site (site administrators)',
      answers: one('organizations'),
      handle: async ({ principal, params }) =>
        shown(await showAnyOrganization(context, principal, params.organization_name)),
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary: 'Switch an organization off or on, or drain it (site administrators)',
      answers: one('organizations'),
      body: { schema: UPDATE, notOffered: NOT_OFFERED },
      handle: async ({ principal, params, body }) => {
        const { 'is-disabled': isDisabled, 'is-draining': isDraining } = body.data.attributes;
        const change = { isDisabled, isDraining };
        return shown(
          await switchOrganization(context, principal, params.organization_name, change),
        );
      },
    }),
  ]);
};
