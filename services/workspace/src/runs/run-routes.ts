import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  type JsonApiExchange,
  jsonApiRoutes,
  parseInclude,
  parsePage,
  type Resource,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { requireWorkspace } from '../access/access-operations.ts';
import { toConfigurationVersionResource } from '../configuration-versions/configuration-version-document.ts';
import { configurationVersionRecords } from '../configuration-versions/configuration-version-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { loadUrlSigner } from '../signed-urls/signed-url-operations.ts';
import { toUserResource } from '../users/user-document.ts';
import { userRecords } from '../users/user-records.ts';
import { toWorkspaceResource } from '../workspaces/workspace-document.ts';
import type { Run } from './domain/run.ts';
import { toApplyResource, toPlanResource, toRunResource } from './run-document.ts';
import { listOrganizationRuns, listWorkspaceRuns } from './run-listing.ts';
import {
  actOnRun,
  createRun,
  forceExecuteRun,
  type RunAccess,
  type RunAction,
  requireRun,
} from './run-operations.ts';
import { type RunPhase, toPhaseId } from './run-records.ts';
import { CREATE_RUN, parseRunFilter, RUN_ALIASES, toGivenRun } from './run-request.ts';

const INCLUDES: ReadonlySet<string> = new Set([
  'plan',
  'apply',
  'created_by',
  'configuration_version',
  'configuration_version.ingress_attributes',
  'cost_estimate',
  'workspace',
  'task_stages',
]);

// Plain JSON, as people and clients send it; the comment is kept nowhere.
const COMMENT = Type.Object({ comment: Type.Optional(Type.Union([Type.String(), Type.Null()])) });

type Exchange = JsonApiExchange<unknown>;

export const runRoutes = (context: ServiceContext): Route[] => {
  const { store } = context;

  const logUrl = async ({ head }: Exchange, run: Run, phase: RunPhase) =>
    (await loadUrlSigner(context, head.baseUrl))(
      'GET',
      `/downloads/logs/${toPhaseId(run.id, phase)}`,
    );

  const loadIncluded = async (
    exchange: Exchange,
    { run, ...access }: RunAccess,
  ): Promise<readonly Resource[]> => {
    const include = parseInclude(exchange.query, INCLUDES);
    const resources: Resource[] = [];
    if (include.has('plan')) {
      resources.push(toPlanResource(run, await logUrl(exchange, run, 'plan')));
    }
    if (include.has('apply') && !run.planOnly) {
      resources.push(toApplyResource(run, await logUrl(exchange, run, 'apply')));
    }
    if (include.has('workspace')) resources.push(toWorkspaceResource(access));
    if (include.has('created_by')) {
      const user = await userRecords.find(store, run.createdById ?? '');
      if (user !== undefined) resources.push(toUserResource(user, false));
    }
    if ([...include].some((name) => name.startsWith('configuration_version'))) {
      const version = await configurationVersionRecords.find(store, run.configurationVersionId);
      if (version !== undefined) resources.push(toConfigurationVersionResource(version, null));
    }
    return resources;
  };

  const answer = async (exchange: Exchange, access: RunAccess) => {
    const included = await loadIncluded(exchange, access);
    const data = toRunResource(access.run, access.permissions);
    return { document: included.length === 0 ? { data } : { data, included } };
  };

  const act = (action: RunAction, summary: string): Endpoint =>
    endpoint({
      method: 'POST',
      path: `/runs/:run_id/actions/${action}`,
      summary,
      body: { schema: COMMENT, optional: true },
      success: 202,
      handle: async ({ principal, params }) => {
        await actOnRun(context, principal, params['run_id'] ?? '', action);
        return undefined;
      },
    });

  const phase = (name: RunPhase, path: string, toResource: typeof toPlanResource) =>
    endpoint({
      method: 'GET',
      path: `${path}/:phase_id`,
      summary: `Show the ${name} of a run`,
      handle: async (exchange) => {
        const { params, principal } = exchange;
        const runId = (params['phase_id'] ?? '').replace(new RegExp(`^${name}-`), 'run-');
        const { run } = await requireRun(store, principal, runId);
        return { document: { data: toResource(run, await logUrl(exchange, run, name)) } };
      },
    });

  return jsonApiRoutes('runs', [
    endpoint({
      method: 'POST',
      path: '/runs',
      summary: 'Queue a run',
      body: { schema: CREATE_RUN, aliases: RUN_ALIASES },
      success: 201,
      handle: async (exchange) => {
        const { principal, body } = exchange;
        const { attributes, relationships } = body.data;
        const access = await createRun(
          context,
          principal,
          relationships?.workspace.data.id ?? '',
          relationships?.['configuration-version']?.data.id,
          toGivenRun(attributes),
        );
        return answer(exchange, access);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/workspaces/:workspace_id/runs',
      summary: 'List the runs of a workspace',
      handle: async ({ head, principal, params, query }) => {
        const workspaceId = params['workspace_id'] ?? '';
        const page = parsePage(query);
        const filter = parseRunFilter(query);
        const { permissions } = await requireWorkspace(store, principal, { workspaceId });
        const found = await listWorkspaceRuns(context, principal, workspaceId, filter, page);
        const data = found.runs.map((run) => toRunResource(run, permissions));
        return {
          document: toPaginatedDocument(head, { data, page, totalCount: found.totalCount }),
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/organizations/:organization_name/runs',
      summary: 'List the runs of an organization',
      handle: async ({ head, principal, params, query }) => {
        const name = params['organization_name'] ?? '';
        const page = parsePage(query);
        const filter = parseRunFilter(query);
        const found = await listOrganizationRuns(context, principal, name, filter, page);
        const data = await Promise.all(
          found.runs.map(async (run) => {
            const { permissions } = await requireRun(store, principal, run.id);
            return toRunResource(run, permissions);
          }),
        );
        return {
          document: toPaginatedDocument(head, { data, page, totalCount: found.totalCount }),
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/runs/:run_id',
      summary: 'Show a run',
      handle: async (exchange) =>
        answer(
          exchange,
          await requireRun(store, exchange.principal, exchange.params['run_id'] ?? ''),
        ),
    }),
    act('apply', 'Confirm the plan of a run'),
    act('discard', 'Discard a run that waits'),
    act('cancel', 'Stop a run'),
    act('force-cancel', 'Give up a run whose agent does not stop'),
    endpoint({
      method: 'POST',
      path: '/runs/:run_id/actions/force-execute',
      summary: 'Discard the run that waits before this one',
      body: { schema: COMMENT, optional: true },
      success: 202,
      handle: async ({ principal, params }) => {
        await forceExecuteRun(context, principal, params['run_id'] ?? '');
        return undefined;
      },
    }),
    phase('plan', '/plans', toPlanResource),
    phase('apply', '/applies', toApplyResource),
  ]);
};
