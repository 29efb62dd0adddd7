/**
 * Run tasks and policies are not offered, so the lists of a run's checks are empty. Public clients read them
 * after every run, and end with an error where the list does not exist.
 */
import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  type Includes,
  jsonApiRoutes,
  pageOf,
  parsePage,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { requireRun } from '../lifecycle/run-operations.ts';
import type { RunsContext } from '../seams/runs-context.ts';

export const runCheckRoutes = ({ store }: RunsContext): Route[] => {
  const list = (
    type: 'task-stages' | 'policy-checks' | 'policy-evaluations',
    summary: string,
    includes: Includes = {},
  ): Endpoint =>
    endpoint({
      method: 'GET',
      path: `/runs/:run_id/${type}`,
      summary,
      answers: pageOf(type, { includes }),
      handle: async ({ head, principal, params, query }) => {
        await requireRun(store, principal, params.run_id);
        const page = parsePage(query);
        return { document: toPaginatedDocument(head, { data: [], page, totalCount: 0 }) };
      },
    });
  return jsonApiRoutes('runs', [
    list('task-stages', 'List the stages of a run at which run tasks are called; always empty', {
      task_results: [],
      policy_evaluations: [],
    }),
    list('policy-checks', 'List the checks of a run by Sentinel policies; always empty', {
      run: ['runs'],
      'run.workspace': ['workspaces'],
    }),
    list('policy-evaluations', 'List the checks of a run by policies of each kind; always empty'),
  ]);
};
