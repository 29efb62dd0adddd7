import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  type Includes,
  type JsonApiExchange,
  jsonApiRoutes,
  nullable,
  one,
  type Page,
  type ParamsOf,
  pageOf,
  parseInclude,
  parsePage,
  type Resource,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { unlessDamaged } from '@keelson/storage';
import { Type } from 'typebox';
import { inPortions } from '../../base/in-portions.ts';
import { IncludedResources } from '../../base/included-resources.ts';
import { notFound } from '../../base/not-found.ts';
import { toSignedFor } from '../../base/signed-urls/signed-url-operations.ts';
import { userRecords } from '../../identity/model/user-records.ts';
import { toUserResource } from '../../identity/users/user-document.ts';
import {
  loadConfigurationVersion,
  loadIngress,
} from '../../state/configuration-versions/workspace-configuration-contribution.ts';
import { toRelatedWorkspace } from '../../workspaces/lifecycle/related-workspace.ts';
import type { Run } from '../model/domain/run.ts';
import { MAX_COMMENT_LENGTH } from '../model/domain/run-comment.ts';
import { type RunPhase, toRunId } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
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
import {
  CREATE_RUN,
  parseRunFilter,
  RUN_ALIASES,
  RUN_FILTERS,
  RUN_NOT_OFFERED,
  toGivenRun,
  toSource,
} from './run-request.ts';

// Names of features that are not offered, such as policies, include nothing: public clients ask for them with each run.
const INCLUDES: Includes = {
  plan: ['plans'],
  apply: ['applies'],
  created_by: ['users'],
  configuration_version: ['configuration-versions'],
  'configuration_version.ingress_attributes': ['ingress-attributes'],
  cost_estimate: [],
  run_events: ['run-events'],
  workspace: ['workspaces'],
  task_stages: [],
  tf_policy_evaluations: [],
};

// The documented body is plain JSON, not JSON:API.
const COMMENT = Type.Object({
  comment: Type.Optional(nullable(Type.String({ maxLength: MAX_COMMENT_LENGTH }))),
});

type Exchange = JsonApiExchange<unknown>;

/**
 * The position of a run in the queue. Clients subtract the number of executing runs before they print it, so
 * that the result is 0 for executing runs and for the first waiting one.
 * @param before number of runs before it in the queue
 * @param running number of executing runs, which come first
 */
const toPosition = (before: number, running: number): number => (before <= running ? 0 : before);

const logUrl = async (context: RunsContext, { head }: Exchange, run: Run, phase: RunPhase) =>
  (await loadLogUrl(context, toSignedFor(head)))(run, phase);

const addIncludedOf = async (
  context: RunsContext,
  exchange: Exchange,
  include: ReadonlySet<string>,
  { run, ...access }: RunAccess,
  included: IncludedResources,
): Promise<void> => {
  const { store } = context;
  const loadPhase = async (phase: RunPhase): Promise<Resource> => {
    const url = await logUrl(context, exchange, run, phase);
    return phase === 'plan'
      ? toPlanResource(run, url)
      : toApplyResource(run, url, access.permissions);
  };
  const loadCreator = async (): Promise<Resource | undefined> => {
    const user = await userRecords.find(store, run.createdById ?? '');
    return user && toUserResource(user);
  };
  const { configurationVersionId: versionId } = run;
  if (include.has('plan')) await included.add(loadPhase('plan'));
  if (include.has('apply') && !run.planOnly) await included.add(loadPhase('apply'));
  if (include.has('workspace')) await included.add(toRelatedWorkspace(context, access));
  if (include.has('created_by')) await included.add(loadCreator());
  if (include.has('configuration_version')) {
    await included.add(loadConfigurationVersion(store, versionId));
  }
  if (include.has('configuration_version.ingress_attributes')) {
    await included.add(loadIngress(store, versionId));
  }
  if (include.has('run_events')) {
    const comments = loadComments(store, run.id);
    await included.add(comments.then((all) => listRunEvents(run, all).map(toRunEventResource)));
  }
};

const loadIncluded = async (
  context: RunsContext,
  exchange: Exchange,
  accesses: readonly RunAccess[],
): Promise<readonly Resource[]> => {
  const include = parseInclude(exchange.query, INCLUDES);
  const included = new IncludedResources();
  for (const access of include.size === 0 ? [] : accesses) {
    await addIncludedOf(context, exchange, include, access, included);
  }
  return included.all;
};

const answer = async (context: RunsContext, exchange: Exchange, access: RunAccess) => {
  const included = await loadIncluded(context, exchange, [access]);
  const comments = await loadComments(context.store, access.run.id);
  const data = toRunResource(access.run, comments, access.permissions);
  return { document: included.length === 0 ? { data } : { data, included } };
};

const answerPage = async (
  context: RunsContext,
  exchange: Exchange,
  page: Page,
  { runs, totalCount }: RunPage,
  positionOf: (index: number) => number | undefined = () => undefined,
) => {
  const accesses = await inPortions(runs, (run) =>
    unlessDamaged(requireRun(context.store, exchange.principal, run.id)),
  );
  const readable = accesses.filter((access) => access !== undefined);
  const included = await loadIncluded(context, exchange, readable);
  const data = await inPortions(readable, async (access) => {
    const { run, permissions } = access;
    const comments = await loadComments(context.store, run.id);
    return toRunResource(run, comments, permissions, positionOf(accesses.indexOf(access)));
  });
  const document = toPaginatedDocument(exchange.head, { data, page, totalCount });
  return { document: included.length === 0 ? document : { ...document, included } };
};

const act = (context: RunsContext, action: RunAction, summary: string): Endpoint =>
  endpoint({
    method: 'POST',
    path: `/runs/:run_id/actions/${action}`,
    summary,
    body: { schema: COMMENT, optional: true },
    success: 202,
    handle: async ({ principal, params, body }) => {
      const comment = body?.comment ?? '';
      await actOnRun(context, principal, params.run_id, action, comment);
      return undefined;
    },
  });

const phaseEndpoints = (
  context: RunsContext,
  name: RunPhase,
  toResource: typeof toApplyResource | typeof toPlanResource,
): Endpoint[] => {
  const type = name === 'plan' ? 'plans' : 'applies';
  const answerPhase = async (exchange: Exchange, runId: string) => {
    const { run, permissions } = await requireRun(context.store, exchange.principal, runId);
    const url = await logUrl(context, exchange, run, name);
    return { document: { data: toResource(run, url, permissions) } };
  };
  const summary = `Show the ${name} of a run`;
  return [
    endpoint({
      method: 'GET',
      path: `/${type}/:phase_id`,
      summary,
      answers: one(type),
      handle: (exchange) => {
        const phaseId = exchange.params.phase_id;
        if (!phaseId.startsWith(`${name}-`)) throw notFound(name);
        return answerPhase(exchange, toRunId(phaseId));
      },
    }),
    endpoint({
      method: 'GET',
      path: `/runs/:run_id/${name}`,
      summary,
      answers: one(type),
      handle: (exchange) => answerPhase(exchange, exchange.params.run_id),
    }),
  ];
};

const listEndpoint = <const Path extends string>(
  context: RunsContext,
  {
    path,
    summary,
    ownerOf,
    find,
  }: {
    readonly path: Path;
    readonly summary: string;
    /** Id or name of the workspace or organization whose runs are listed. */
    readonly ownerOf: (params: ParamsOf<Path>) => string;
    readonly find: typeof listWorkspaceRuns;
  },
): Endpoint =>
  endpoint({
    method: 'GET',
    path,
    summary,
    query: RUN_FILTERS,
    answers: pageOf('runs', { includes: INCLUDES }),
    handle: async (exchange) => {
      const { principal, params, query } = exchange;
      const page = parsePage(query);
      const found = await find(context, principal, ownerOf(params), parseRunFilter(query), page);
      return answerPage(context, exchange, page, found);
    },
  });

const listEndpoints = (context: RunsContext): Endpoint[] => [
  endpoint({
    method: 'POST',
    path: '/runs',
    summary: 'Queue a run',
    answers: one('runs', { includes: INCLUDES }),
    body: { schema: CREATE_RUN, aliases: RUN_ALIASES, notOffered: RUN_NOT_OFFERED },
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
      return answer(context, exchange, access);
    },
  }),
  listEndpoint(context, {
    path: '/workspaces/:workspace_id/runs',
    summary: 'List the runs of a workspace',
    ownerOf: (params) => params.workspace_id,
    find: listWorkspaceRuns,
  }),
  listEndpoint(context, {
    path: '/organizations/:organization_name/runs',
    summary: 'List the runs of an organization',
    ownerOf: (params) => params.organization_name,
    find: listOrganizationRuns,
  }),
  endpoint({
    method: 'GET',
    path: '/organizations/:organization_name/runs/queue',
    summary: 'List the runs that agents have or that wait for one, in the order of their turn',
    answers: pageOf('runs', { includes: INCLUDES }),
    handle: async (exchange) => {
      const { principal, params, query } = exchange;
      const page = parsePage(query);
      const name = params.organization_name;
      const found = await listRunQueue(context, principal, name, page);
      const { running } = await countCapacity(context, principal, name);
      const before = (page.number - 1) * page.size;
      return answerPage(context, exchange, page, found, (index) =>
        toPosition(before + index, running),
      );
    },
  }),
  endpoint({
    method: 'GET',
    path: '/organizations/:organization_name/capacity',
    summary: 'Count the runs that wait for an agent and those that have one',
    answers: one('organization-capacity'),
    handle: async ({ principal, params }) => {
      const name = params.organization_name;
      const { organizationName, pending, running } = await countCapacity(context, principal, name);
      const attributes = { pending, running };
      return {
        document: { data: { id: organizationName, type: 'organization-capacity', attributes } },
      };
    },
  }),
];

const memberEndpoints = (context: RunsContext): Endpoint[] => [
  endpoint({
    method: 'GET',
    path: '/runs/:run_id',
    summary: 'Show a run',
    answers: one('runs', { includes: INCLUDES }),
    handle: async (exchange) =>
      answer(
        context,
        exchange,
        await requireRun(context.store, exchange.principal, exchange.params.run_id),
      ),
  }),
  act(context, 'apply', 'Confirm the plan of a run'),
  act(context, 'discard', 'Discard a run that waits'),
  act(context, 'cancel', 'Stop a run'),
  act(context, 'force-cancel', 'Give up a run whose agent does not stop'),
  endpoint({
    method: 'POST',
    path: '/runs/:run_id/actions/force-execute',
    summary: 'Discard the run that waits before this one',
    body: { schema: COMMENT, optional: true },
    success: 202,
    handle: async ({ principal, params, body }) => {
      const comment = body?.comment ?? '';
      await forceExecuteRun(context, principal, params.run_id, comment);
      return undefined;
    },
  }),
];

const allPhaseEndpoints = (context: RunsContext): Endpoint[] => [
  ...phaseEndpoints(context, 'plan', toPlanResource),
  ...phaseEndpoints(context, 'apply', toApplyResource),
];

export const runRoutes = (context: RunsContext): Route[] =>
  jsonApiRoutes('runs', [
    ...listEndpoints(context),
    ...memberEndpoints(context),
    ...allPhaseEndpoints(context),
  ]);
