/** Files of plans and applies: clients are redirected to them, and agents upload them to signed URLs. */
import { edgeResponse, type Route } from '@keelson/edge';
import { type Endpoint, endpoint, jsonApiRoutes, type ParamsOf } from '@keelson/jsonapi';
import { signedRoute } from '../../base/signed-urls/signed-routes.ts';
import {
  loadUrlSigner,
  REDIRECTED_URL_LIFETIME_SECONDS,
  toSignedFor,
} from '../../base/signed-urls/signed-url-operations.ts';
import { readContent } from '../../state/contents/state-content-operations.ts';
import {
  type BackingDataAction,
  toActionNames,
} from '../../state/retention/domain/backing-data.ts';
import { signedDownload } from '../../workspaces/access/signed-downloads.ts';
import { type RunPhase, toPhaseId } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { changePhaseData } from './run-data-operations.ts';
import { isRunFileReady, requireRunFile, uploadRunFile } from './run-file-operations.ts';
import { runFilePath } from './run-file-paths.ts';

const ofPhase = (params: { readonly phase_id: string }): string => params.phase_id;
const ofRun = (params: { readonly run_id: string }): string => toPhaseId(params.run_id, 'plan');

export const runFileRoutes = (context: RunsContext): Route[] => {
  const redirection = <const Path extends string>(
    path: Path,
    kind: Parameters<typeof isRunFileReady>[3],
    toId: (params: ParamsOf<Path>) => string,
    summary: string,
  ): Endpoint =>
    endpoint({
      method: 'GET',
      path,
      summary,
      redirects: 307,
      mayBeEmpty: true,
      handle: async ({ head, principal, params }) => {
        const phaseId = toId(params);
        if (!(await isRunFileReady(context.store, principal, phaseId, kind))) return undefined;
        const sign = await loadUrlSigner(
          context,
          toSignedFor(head),
          REDIRECTED_URL_LIFETIME_SECONDS,
        );
        return { status: 307, location: sign('GET', runFilePath('downloads', phaseId, kind)) };
      },
    });
  const backingData = (
    phase: RunPhase,
    path: '/plans' | '/applies',
    action: BackingDataAction,
    summary: string,
  ): Endpoint[] =>
    toActionNames(action).map((name) =>
      endpoint({
        method: 'POST',
        path: `${path}/:phase_id/actions/${name}`,
        summary: `${summary} of a run that has ended`,
        success: 204,
        handle: async ({ principal, params }) => {
          await changePhaseData(context, principal, phase, ofPhase(params), action);
          return undefined;
        },
      }),
    );
  const phaseData = (phase: RunPhase, path: '/plans' | '/applies'): Endpoint[] => [
    ...backingData(phase, path, 'soft_delete', `Withhold the log and the files of the ${phase}`),
    ...backingData(phase, path, 'restore', `Give back the withheld log and files of the ${phase}`),
    ...backingData(phase, path, 'permanently_delete', `Delete the withheld data of the ${phase}`),
  ];
  const JSON_OUTPUT = 'Download the plan as JSON; 204 until it exists';
  const REDACTED = 'Download the plan as JSON without sensitive values; 204 until it exists';
  return jsonApiRoutes('runs', [
    redirection('/plans/:phase_id/json-output', 'json-output', ofPhase, JSON_OUTPUT),
    redirection('/runs/:run_id/plan/json-output', 'json-output', ofRun, JSON_OUTPUT),
    redirection('/plans/:phase_id/json-output-redacted', 'json-output-redacted', ofPhase, REDACTED),
    redirection('/runs/:run_id/plan/json-output-redacted', 'json-output-redacted', ofRun, REDACTED),
    redirection(
      '/applies/:phase_id/errored-state',
      'errored-state',
      ofPhase,
      'Download the state that an apply could not store; 204 if there is none',
    ),
    ...phaseData('plan', '/plans'),
    ...phaseData('apply', '/applies'),
  ]);
};

export const runFileTransferRoutes = (context: RunsContext): Route[] => [
  signedRoute(context, 'agents', {
    method: 'PUT',
    path: '/uploads/run-files/:phase_id/:kind',
    summary: 'Upload a file of a plan or apply',
    handle: async ({ params, body }) => {
      await uploadRunFile(context, ofPhase(params), params.kind, body.chunks());
      return undefined;
    },
  }),
  signedDownload(context, 'agents', {
    path: '/downloads/run-files/:phase_id/:kind',
    summary: 'Download a file of a plan or apply',
    mediaTypes: ['application/json', 'application/octet-stream'],
    handle: async ({ params }, reader) => {
      const kind = params.kind;
      const content = await requireRunFile(context.store, reader, ofPhase(params), kind);
      return edgeResponse(
        200,
        {
          'content-type': kind === 'plan-file' ? 'application/octet-stream' : 'application/json',
          'content-length': String(content.sizeBytes),
          'cache-control': 'no-store',
        },
        await readContent(context, content),
      );
    },
  }),
];
