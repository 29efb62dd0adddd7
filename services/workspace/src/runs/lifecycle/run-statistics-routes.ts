/** Numbers of runs over an hour, a day and thirty days. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { HISTORY_WINDOWS, type HistoryWindow } from '@keelson/history';
import {
  choice,
  type Endpoint,
  endpoint,
  jsonApiRoutes,
  one,
  orNull,
  type ParamsOf,
  type QueryParameters,
  type QuerySchema,
  type ResourceOf,
  resourceSchema,
  timestamp,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { RunsContext } from '../seams/runs-context.ts';
import { countOrganizationRuns, countWorkspaceRuns, type RunStatistics } from './run-statistics.ts';

const TYPE = 'run-statistics';

const counts = (description: string) => Type.Array(Type.Integer(), { description });

/** The id is that of the workspace, or the name of the organization. */
export const RUN_STATISTICS = resourceSchema({
  type: TYPE,
  attributes: {
    window: choice([...HISTORY_WINDOWS]),
    'step-seconds': Type.Integer({
      description: 'Length of an interval. The lists have a value for each interval, oldest first.',
    }),
    'start-at': timestamp('Beginning of the first interval. The last one contains the present.'),
    created: counts('Runs that were created in the interval, without health assessments.'),
    finished: counts('Those of them that have ended otherwise than with an error.'),
    errored: counts('Those of them that have ended with an error.'),
    'queue-seconds': Type.Array(orNull(Type.Number()), {
      description:
        'Mean time that those of them whose plan has begun have waited for it; null without any.',
    }),
  },
});

const WINDOW: QuerySchema = {
  'filter[window]': {
    description:
      'The last hour in minutes, which is the default, the last day in steps of ten minutes, or the last month, 30 days, in hours.',
    schema: choice([...HISTORY_WINDOWS]),
  },
};

/** @throws KeelsonError `jsonapi.invalid_parameter` */
const parseWindow = (query: QueryParameters): HistoryWindow => {
  const given = query.one('filter', 'window') || 'hour';
  const window = HISTORY_WINDOWS.find((known) => known === given);
  if (window !== undefined) return window;
  throw new KeelsonError('jsonapi.invalid_parameter', {
    parameter: 'filter[window]',
    text: `must be one of ${HISTORY_WINDOWS.join(', ')}`,
  });
};

const toResource = (
  id: string,
  { window, span, queuedMs, ...numbers }: RunStatistics,
): ResourceOf<typeof RUN_STATISTICS> => ({
  id,
  type: TYPE,
  attributes: {
    window,
    'step-seconds': span.stepMs / 1000,
    'start-at': toTimestamp(span.fromMs),
    created: numbers.created,
    finished: numbers.finished,
    errored: numbers.errored,
    'queue-seconds': queuedMs.map((ms) => (ms === null ? null : ms / 1000)),
  },
});

const statisticsEndpoint = <const Path extends string>(
  context: RunsContext,
  {
    path,
    summary,
    ownerOf,
    count,
  }: {
    readonly path: Path;
    readonly summary: string;
    /** Id or name of the workspace or organization whose runs are counted. */
    readonly ownerOf: (params: ParamsOf<Path>) => string;
    readonly count: typeof countWorkspaceRuns;
  },
): Endpoint =>
  endpoint({
    method: 'GET',
    path,
    summary,
    query: WINDOW,
    answers: one(TYPE),
    handle: async ({ principal, params, query }) => {
      const owner = ownerOf(params);
      const counted = await count(context, principal, owner, parseWindow(query));
      return { document: { data: toResource(owner, counted) } };
    },
  });

export const runStatisticsRoutes = (context: RunsContext): Route[] =>
  jsonApiRoutes('runs', [
    statisticsEndpoint(context, {
      path: '/workspaces/:workspace_id/run-statistics',
      summary: 'Count the runs of a workspace by the time at which they were created',
      ownerOf: (params) => params.workspace_id,
      count: countWorkspaceRuns,
    }),
    statisticsEndpoint(context, {
      path: '/organizations/:organization_name/run-statistics',
      summary:
        'Count the runs of all workspaces that the caller may see, by the time at which they were created',
      ownerOf: (params) => params.organization_name,
      count: countOrganizationRuns,
    }),
  ]);
