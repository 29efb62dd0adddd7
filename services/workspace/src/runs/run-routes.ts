import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  type JsonApiExchange,
  jsonApiRoutes,
  nullable,
  type Page,
  parseInclude,
  parsePage,
  type Resource,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { notFound } from '../access/access-operations.ts';
import { toConfigurationVersionResource } from '../configuration-versions/configuration-version-document.ts';
import { configurationVersionRecords } from '../configuration-versions/configuration-version-records.ts';
import { findSitePolicyFor } from '../retention/retention-operations.ts';
import type { ServiceContext } from '../service-context.ts';
import { toUserResource } from '../users/user-document.ts';
import { userRecords } from '../users/user-records.ts';
import { toWorkspaceResource } from '../workspaces/workspace-document.ts';
import type { Run } from './domain/run.ts';
import { MAX_COMMENT_LENGTH } from './domain/run-comment.ts';
import { actOnRun, forceExecuteRun, type RunAction } from './run-action-operations.ts';
import { loadComments } from './run-comment-operations.ts';
import { toApplyResource, toPlanResource, toRunResource } from './run-document.ts';
import { listRunEvents, toRunEventResource } from './run-history-document.ts';
import {
  countCapacity,
  listOrganizationRuns,
  listRunQueue,
  listWorkspaceRuns,
  type RunPage,
} from './run-listing.ts';
import { loadLogUrl } from './run-log-url.ts';
import { createRun, type RunAccess, requireRun } from './run-operations.ts';
import { type RunPhase, toRunId } from './run-records.ts';
import { CREATE_RUN, parseRunFilter, RUN_ALIASES, toGivenRun, toSource } from './run-request.ts';

const INCLUDES: ReadonlySet<string> = new Set([
  'plan',
  'apply',
  'created_by',
  'configuration_version',
  'configuration_version.ingress_attributes',
  'cost_estimate',
  'run_events',
  'workspace',
  'task_stages',
]);

// Plain JSON, as people and clients send it.
const COMMENT = Type.Object({
  comment: Type.Optional(nullable(Type.String({ maxLength: MAX_COMMENT_LENGTH }))),
});

type Exchange = JsonApiExchange<unknown>;

/**
 * The place of a run in the queue as clients read it, who print it less the number of runs that have an
 * agent: 0 for those, and for the first that waits.
 * @param before runs before it in the queue
 * @param running runs that have an agent, which come first
 */
const toPosition = (before: number, running: number): number => (before <= running ? 0 : before);

export const runRoutes = (context: ServiceContext): Route[] => {
  const { store } = context;

  const logUrl = async ({ head }: Exchange, run: Run, phase: RunPhase) =>
    (await loadLogUrl(context, head.baseUrl))(run, phase);

  const loadIncluded = async (
    exchange: Exchange,
    accesses: readonly RunAccess[],
  ): Promise<readonly Resource[]> => {
    const include = parseInclude(exchange.query, INCLUDES);
    const found = new Map<string, Resource>();
    const add = (resource: Resource | undefined): void => {
      if (resource !== undefined) found.set(`${resource.type} ${resource.id}`, resource);
    };
    const sitePolicy = include.has('workspace') ? await findSitePolicyFor(store, accesses) : null;
    for (const { run, ...access } of include.size === 0 ? [] : accesses) {
      if (include.has('plan')) add(toPlanResource(run, await logUrl(exchange, run, 'plan')));
      if (include.has('apply') && !run.planOnly) {
        const url = await logUrl(exchange, run, 'apply');
        add(toApplyResource(run, url, access.permissions));
      }
      if (include.has('workspace')) add(toWorkspaceResource(access, sitePolicy));
      if (include.has('created_by')) {
        const user = await userRecords.find(store, run.createdById ?? '');
        add(user && toUserResource(user, false));
      }
      if ([...include].some((name) => name.startsWith('configuration_version'))) {
        const version = await configurationVersionRecords.find(store, run.configurationVersionId);
        add(version && toConfigurationVersionResource(version, null));
      }
      if (include.has('run_events')) {
        const events = listRunEvents(run, await loadComments(store, run.id));
        events.map(toRunEventResource).forEach(add);
      }
    }
    return [...found.values()];
  };

  const answer = async (exchange: Exchange, access: RunAccess) => {
    const included = await loadIncluded(exchange, [access]);
    const comments = await loadComments(store, access.run.id);
    const data = toRunResource(access.run, comments, access.permissions);
    return { document: included.length === 0 ? { data } : { data, included } };
  };

  const answerPage = async (
    exchange: Exchange,
    page: Page,
    { runs, totalCount }: RunPage,
    positionOf: (index: number) => number | undefined = () => undefined,
  ) => {
    const accesses = await Promise.all(
      runs.map((run) => requireRun(store, exchange.principal, run.id)),
    );
    const included = await loadIncluded(exchange, accesses);
    const data = await Promise.all(
      accesses.map(async ({ run, permissions }, index) =>
        toRunResource(run, await loadComments(store, run.id), permissions, positionOf(index)),
      ),
    );
    const document = toPaginatedDocument(exchange.head, { data, page, totalCount });
    return { document: included.length === 0 ? document : { ...document, included } };
  };

  const act = (action: RunAction, summary: string): Endpoint =>
    endpoint({
      method: 'POST',
      path: `/runs/:run_id/actions/${action}`,
      summary,
      body: { schema: COMMENT, optional: true },
      success: 202,
      handle: async ({ principal, params, body }) => {
        const comment = body?.comment ?? '';
        await actOnRun(context, principal, params['run_id'] ?? '', action, comment);
        return undefined;
      },
    });

  const phase = (name: RunPhase, path: string, toResource: typeof toApplyResource): Endpoint[] => {
    const answerPhase = async (exchange: Exchange, runId: string) => {
      const { run, permissions } = await requireRun(store, exchange.principal, runId);
      const url = await logUrl(exchange, run, name);
      return { document: { data: toResource(run, url, permissions) } };
    };
    const summary = `Show the ${name} of a run`;
    return [
      endpoint({
        method: 'GET',
        path: `${path}/:phase_id`,
        summary,
        handle: (exchange) => {
          const phaseId = exchange.params['phase_id'] ?? '';
          if (!phaseId.startsWith(`${name}-`)) throw notFound(name);
          return answerPhase(exchange, toRunId(phaseId));
        },
      }),
      endpoint({
        method: 'GET',
        path: `/runs/:run_id/${name}`,
        summary,
        handle: (exchange) => answerPhase(exchange, exchange.params['run_id'] ?? ''),
      }),
    ];
  };

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
          relationships?.['configuration-version']?.data?.id,
          toGivenRun(attributes),
          toSource(exchange.head.headers),
        );
        return answer(exchange, access);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/workspaces/:workspace_id/runs',
      summary: 'List the runs of a workspace',
      handle: async (exchange) => {
        const { principal, params, query } = exchange;
        const workspaceId = params['workspace_id'] ?? '';
        const page = parsePage(query);
        const filter = parseRunFilter(query);
        const found = await listWorkspaceRuns(context, principal, workspaceId, filter, page);
        return answerPage(exchange, page, found);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/organizations/:organization_name/runs',
      summary: 'List the runs of an organization',
      handle: async (exchange) => {
        const { principal, params, query } = exchange;
        const name = params['organization_name'] ?? '';
        const page = parsePage(query);
        const filter = parseRunFilter(query);
        const found = await listOrganizationRuns(context, principal, name, filter, page);
        return answerPage(exchange, page, found);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/organizations/:organization_name/runs/queue',
      summary: 'List the runs that agents have or that wait for one, in the order of their turn',
      handle: async (exchange) => {
        const { principal, params, query } = exchange;
        const page = parsePage(query);
        const name = params['organization_name'] ?? '';
        const found = await listRunQueue(context, principal, name, page);
        const { running } = await countCapacity(context, principal, name);
        const before = (page.number - 1) * page.size;
        return answerPage(exchange, page, found, (index) => toPosition(before + index, running));
      },
    }),
    endpoint({
      method: 'GET',
      path: '/organizations/:organization_name/capacity',
      summary: 'Count the runs that wait for an agent and those that have one',
      handle: async ({ principal, params }) => {
        const name = params['organization_name'] ?? '';
        const { organizationName, pending, running } = await countCapacity(
          context,
          principal,
          name,
        );
        const attributes = { pending, running };
        return {
          document: { data: { id: organizationName, type: 'organization-capacity', attributes } },
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
      handle: async ({ principal, params, body }) => {
        const comment = body?.comment ?? '';
        await forceExecuteRun(context, principal, params['run_id'] ?? '', comment);
        return undefined;
      },
    }),
    ...phase('plan', '/plans', toPlanResource),
    ...phase('apply', '/applies', toApplyResource),
  ]);
};
