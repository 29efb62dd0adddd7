import type { Route } from '@keelson/edge';
import {
  type DocumentAnswer,
  dictionary,
  type Endpoint,
  endpoint,
  type JsonApiExchange,
  jsonApiRoutes,
  one,
  type ParamsOf,
  pageOf,
  parseInclude,
  parsePage,
  type Resource,
  toPaginatedDocument,
  withWarnings,
} from '@keelson/jsonapi';
import { type RecordedReads, readableOnly, recordReads } from '@keelson/storage';
import { Type } from 'typebox';
import {
  decideEffectiveExecution,
  WORKSPACE_EXECUTION_NAMES,
  warnOfInherited,
} from '../../base/execution/domain/execution.ts';
import { inPortions } from '../../base/in-portions.ts';
import { findSitePolicyFor } from '../../base/retention/retention-records.ts';
import {
  requireWorkspace,
  type WorkspaceAccessResult,
  type WorkspaceAddress,
} from '../access/access-operations.ts';
import { loadShown } from '../access/shown-workspace.ts';
import { parseWorkspaceQuery, WORKSPACE_FILTERS } from '../listing/workspace-list-request.ts';
import { toWorkspaceIncludes } from '../seams/workspace-contributions.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { toWorkspaceResource } from './workspace-document.ts';
import { loadIncluded, withIncludedLinkage } from './workspace-includes.ts';
import { listWorkspaces, type WorkspacePage } from './workspace-list-operations.ts';
import {
  createWorkspace,
  forceDeleteWorkspace,
  safeDeleteWorkspace,
  updateWorkspace,
  type WorkspaceInput,
} from './workspace-operations.ts';
import {
  CREATE_WORKSPACE,
  fromWorkspaceDocument,
  UPDATE_WORKSPACE,
  WORKSPACE_FORM,
} from './workspace-request.ts';

/** A workspace's path by its id, and by its organization and name. */
const FORMS = [
  '/workspaces/:workspace_id',
  '/organizations/:organization_name/workspaces/:workspace_name',
] as const;
type Form = (typeof FORMS)[number];

const toAddress = (params: ParamsOf<Form>): WorkspaceAddress =>
  'workspace_id' in params
    ? { workspaceId: params.workspace_id }
    : { organizationName: params.organization_name, workspaceName: params.workspace_name };

/** The same endpoint under the workspace's id, and under its organization and name. */
const inBothForms = (build: (path: Form) => Endpoint): readonly Endpoint[] => FORMS.map(build);

const STATUS_COUNTS = {
  'status-counts': dictionary(Type.Integer(), {
    description:
      'Workspaces that the caller may see, by the status of their current run; `none`: without a run, `total`: all, `matching`: those that the filters of the request select.',
  }),
};

/** Counts by status of the current run: of all visible workspaces, and of those that match the request. */
const toStatusCounts = ({
  runStatusCounts,
  organizationCount,
  totalCount,
}: WorkspacePage): Record<string, number> => {
  const withRun = [...runStatusCounts.values()].reduce((sum, count) => sum + count, 0);
  return {
    ...Object.fromEntries(
      [...runStatusCounts].map(([status, count]) => [status.replaceAll('_', '-'), count]),
    ),
    // The two counts are made one after the other, so that a change in between may make this negative.
    none: Math.max(0, organizationCount - withRun),
    total: organizationCount,
    matching: totalCount,
  };
};

/**
 * A response with one workspace and the resources named in `include`.
 * @param recorded the reads on which `access` is based, if they were recorded
 */
export const answerWorkspace = async (
  context: WorkspacesContext,
  { head, query }: Pick<JsonApiExchange<unknown>, 'head' | 'query'>,
  access: WorkspaceAccessResult,
  recorded?: RecordedReads,
): Promise<DocumentAnswer<Resource<'workspaces'>>> => {
  const include = parseInclude(query, toWorkspaceIncludes(context.workspaceContributions));
  const reads = recorded?.reads ?? context.store;
  const sitePolicy = await findSitePolicyFor(reads, [access]);
  const shown = await loadShown(reads, access);
  const data = withIncludedLinkage(
    toWorkspaceResource(context.workspaceContributions, shown, sitePolicy),
    include,
    access,
  );
  if (include.size === 0) return { document: { data }, isStillValid: recorded?.isStillValid };
  const included = await loadIncluded(context, head, include, [shown]);
  return { document: { data, included } };
};

/** Values of a request that have no effect, because the organization or the project decides. */
const warnOfDefaults = (
  { settings, execution }: WorkspaceInput,
  { workspace, project, organization }: WorkspaceAccessResult,
): readonly string[] => [
  ...(settings.assessmentsEnabled === false && organization.settings.assessmentsEnforced
    ? ['assessments-enabled has no effect while the organization has assessments-enforced']
    : []),
  ...warnOfInherited(
    execution,
    decideEffectiveExecution(
      workspace.ownExecution,
      project.ownExecution,
      organization.defaultExecution,
    ),
    WORKSPACE_EXECUTION_NAMES,
  ),
];

const COLLECTION = '/organizations/:organization_name/workspaces';

const removalEndpoints = (context: WorkspacesContext): readonly Endpoint[] => [
  ...inBothForms((path) =>
    endpoint({
      method: 'POST',
      path: `${path}/actions/safe-delete`,
      summary: 'Delete a workspace that manages nothing',
      success: 204,
      handle: async ({ principal, params }) => {
        await safeDeleteWorkspace(context, principal, toAddress(params));
        return undefined;
      },
    }),
  ),
  ...inBothForms((path) =>
    endpoint({
      method: 'DELETE',
      path,
      summary: 'Delete a workspace whatever it manages',
      success: 204,
      handle: async ({ principal, params }) => {
        await forceDeleteWorkspace(context, principal, toAddress(params));
        return undefined;
      },
    }),
  ),
];

export const workspaceRoutes = (context: WorkspacesContext): Route[] => {
  const includes = toWorkspaceIncludes(context.workspaceContributions);
  return jsonApiRoutes('workspaces', [
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Create a workspace',
      answers: one('workspaces', { includes }),
      body: { schema: CREATE_WORKSPACE, ...WORKSPACE_FORM },
      success: 201,
      handle: async (exchange) => {
        const { params, principal, body } = exchange;
        const {
          name,
          'source-name': sourceName = null,
          'source-url': sourceUrl = null,
          ...attributes
        } = body.data.attributes;
        const given = fromWorkspaceDocument({ data: { ...body.data, attributes } });
        const access = await createWorkspace(
          context,
          principal,
          params.organization_name,
          { ...given, name },
          { sourceName, sourceUrl },
        );
        const { document } = await answerWorkspace(context, exchange, access);
        return { document: { ...document, ...withWarnings(warnOfDefaults(given, access)) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List workspaces',
      query: WORKSPACE_FILTERS,
      answers: pageOf('workspaces', { includes, meta: STATUS_COUNTS }),
      handle: async ({ head, params, principal, query }) => {
        const include = parseInclude(query, includes);
        const page = parsePage(query);
        const found = await listWorkspaces(
          context,
          principal,
          params.organization_name,
          parseWorkspaceQuery(query),
          page,
        );
        const { totalCount } = found;
        const reads = readableOnly(context.store);
        const workspaces = await inPortions(found.workspaces, (access) => loadShown(reads, access));
        const sitePolicy = await findSitePolicyFor(context.store, workspaces);
        return {
          document: toPaginatedDocument(head, {
            data: workspaces.map((access) =>
              withIncludedLinkage(
                toWorkspaceResource(context.workspaceContributions, access, sitePolicy),
                include,
                access,
              ),
            ),
            included: await loadIncluded(context, head, include, workspaces),
            page,
            totalCount,
            meta: { 'status-counts': toStatusCounts(found) },
          }),
        };
      },
    }),
    ...inBothForms((path) =>
      endpoint({
        method: 'GET',
        path,
        summary: 'Show a workspace',
        answers: one('workspaces', { includes }),
        handle: async (exchange) => {
          const { principal, params } = exchange;
          const recorded = await recordReads(context.store);
          const access = await requireWorkspace(recorded.reads, principal, toAddress(params));
          return answerWorkspace(context, exchange, access, recorded);
        },
      }),
    ),
    ...inBothForms((path) =>
      endpoint({
        method: 'PATCH',
        path,
        summary: 'Update a workspace',
        answers: one('workspaces', { includes }),
        body: { schema: UPDATE_WORKSPACE, ...WORKSPACE_FORM },
        handle: async (exchange) => {
          const given = fromWorkspaceDocument(exchange.body);
          const address = toAddress(exchange.params);
          const { principal } = exchange;
          const { access, warnings } = await updateWorkspace(context, principal, address, given);
          const { document } = await answerWorkspace(context, exchange, access);
          const all = [...warnings, ...warnOfDefaults(given, access)];
          return { document: { ...document, ...withWarnings(all) } };
        },
      }),
    ),
    ...removalEndpoints(context),
  ]);
};
