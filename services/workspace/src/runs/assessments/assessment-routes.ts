import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, one, type ParamsOf } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import {
  loadUrlSigner,
  REDIRECTED_URL_LIFETIME_SECONDS,
  toSignedFor,
} from '../../base/signed-urls/signed-url-operations.ts';
import { isRunFileReady } from '../lifecycle/run-file-operations.ts';
import { runFilePath } from '../lifecycle/run-file-paths.ts';
import { loadLogUrl } from '../lifecycle/run-log-url.ts';
import { toPhaseId } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { toAssessmentResource } from './assessment-document.ts';
import { assessNow, requireAssessment, requireCurrentAssessment } from './assessment-operations.ts';

const ONE = '/assessment-results/:assessment_result_id';

export const assessmentRoutes = (context: RunsContext): Route[] => {
  const { store } = context;
  const requireOf = (principal: Principal, params: ParamsOf<typeof ONE>) =>
    requireAssessment(store, principal, params.assessment_result_id);
  const file = (kind: 'json-output' | 'json-schema', summary: string) =>
    endpoint({
      method: 'GET',
      path: `${ONE}/${kind}`,
      summary,
      redirects: 307,
      mayBeEmpty: true,
      handle: async ({ head, principal, params }) => {
        const planId = toPhaseId((await requireOf(principal, params)).id, 'plan');
        if (!(await isRunFileReady(store, principal, planId, kind))) return undefined;
        const sign = await loadUrlSigner(
          context,
          toSignedFor(head),
          REDIRECTED_URL_LIFETIME_SECONDS,
        );
        return { status: 307, location: sign('GET', runFilePath('downloads', planId, kind)) };
      },
    });
  return jsonApiRoutes('assessments', [
    endpoint({
      method: 'GET',
      path: '/workspaces/:workspace_id/current-assessment-result',
      summary: 'Show the result of the newest health assessment of a workspace',
      answers: one('assessment-results'),
      handle: async ({ principal, params }) => {
        const workspaceId = params.workspace_id;
        const run = await requireCurrentAssessment(store, principal, workspaceId);
        return { document: { data: toAssessmentResource(run) } };
      },
    }),
    endpoint({
      method: 'POST',
      path: '/workspaces/:workspace_id/actions/assess',
      summary: 'Start a health assessment of a workspace before it is due',
      success: 202,
      handle: async ({ principal, params }) => {
        await assessNow(context, principal, params.workspace_id);
        return undefined;
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show the result of a health assessment',
      answers: one('assessment-results'),
      handle: async ({ principal, params }) => ({
        document: { data: toAssessmentResource(await requireOf(principal, params)) },
      }),
    }),
    file('json-output', 'Download the plan of an assessment as JSON; 204 if there is none'),
    file('json-schema', 'Download the schemas of the providers as JSON; 204 if there are none'),
    endpoint({
      method: 'GET',
      path: `${ONE}/log-output`,
      summary: 'Download the log of an assessment, one JSON document per line',
      redirects: 307,
      handle: async ({ head, principal, params }) => {
        const run = await requireOf(principal, params);
        // The output contains values, as a plan does, and requires the same permission.
        await isRunFileReady(store, principal, toPhaseId(run.id, 'plan'), 'json-output');
        const logUrl = await loadLogUrl(context, toSignedFor(head));
        return { status: 307, location: logUrl(run, 'plan') };
      },
    }),
  ]);
};
