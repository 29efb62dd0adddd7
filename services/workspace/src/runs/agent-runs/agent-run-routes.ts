/** The endpoints of agents (services/workspace/README.md), and the logs that agents write. */
import { edgeResponse, type Route } from '@keelson/edge';
import {
  endpoint,
  type JsonApiExchange,
  jsonApiRoutes,
  one,
  type ResourceOf,
  resourceBody,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { notFound } from '../../base/not-found.ts';
import { loadUrlSigner, toSignedFor } from '../../base/signed-urls/signed-url-operations.ts';
import { signedDownload } from '../../workspaces/access/signed-downloads.ts';
import { resolveRuntimeVersion } from '../../workspaces/model/domain/runtime-version.ts';
import { requireRun } from '../lifecycle/run-operations.ts';
import { isAssessment } from '../model/domain/run.ts';
import { toRunId } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { type AGENT_RUN, toAgentRunResource } from './agent-run-document.ts';
import {
  type AgentRun,
  type ClaimedRun,
  claimRun,
  loadClaimedRun,
  type PhaseReport,
  reportPhase,
  writeLog,
} from './agent-run-operations.ts';
import { readLog } from './log-reader.ts';

const count = Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000 }));
const REPORT = resourceBody(
  'agent-runs',
  Type.Object({
    status: Type.Union([
      Type.Literal('finished'),
      Type.Literal('errored'),
      Type.Literal('canceled'),
    ]),
    'has-changes': Type.Optional(Type.Boolean()),
    'resource-additions': count,
    'resource-changes': count,
    'resource-destructions': count,
    'resource-imports': count,
  }),
);
const CLAIM = Type.Object({
  data: Type.Object({ type: Type.Literal('agents'), id: Type.String({ maxLength: 64 }) }),
});
const LOG = resourceBody('logs', Type.Object({ text: Type.String({ maxLength: 65_536 }) }));

const MAX_READ_BYTES = 1024 * 1024;

const toNumber = (text: string | null, fallback: number): number =>
  text !== null && /^\d{1,9}$/.test(text) ? Number(text) : fallback;

export const agentRunRoutes = (context: RunsContext): Route[] => {
  const toResource = async (
    { head }: Pick<JsonApiExchange<unknown>, 'head'>,
    found: AgentRun | ClaimedRun,
  ): Promise<ResourceOf<typeof AGENT_RUN>> =>
    toAgentRunResource(
      found,
      resolveRuntimeVersion(found.run.terraformVersion, context.runtimeVersions) ?? null,
      await loadUrlSigner(context, {
        ...toSignedFor(head),
        // The agent that claims a phase downloads with the token of the phase.
        ...('tokenId' in found && { tokenId: found.tokenId }),
      }),
    );

  const documents = jsonApiRoutes('agents', [
    endpoint({
      method: 'POST',
      path: '/agent-runs/actions/claim',
      summary: 'Claim the oldest phase that waits for an agent of the pool; 204 if none waits',
      answers: one('agent-runs'),
      mayBeEmpty: true,
      body: { schema: CLAIM },
      handle: async (exchange) => {
        const claimed = await claimRun(context, exchange.principal, exchange.body.data.id);
        return claimed && { document: { data: await toResource(exchange, claimed) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/agent-runs/:run_id',
      summary: 'Show the run of the token, to learn whether it must stop',
      answers: one('agent-runs'),
      handle: async (exchange) => {
        const id = exchange.params.run_id;
        const found = await loadClaimedRun(context, exchange.principal, id);
        return { document: { data: await toResource(exchange, found) } };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: '/agent-runs/:run_id',
      summary: 'Report how the phase ended',
      body: { schema: REPORT },
      success: 204,
      handle: async ({ principal, params, body }) => {
        const { status, ...given } = body.data.attributes;
        const counts = {
          additions: given['resource-additions'] ?? 0,
          changes: given['resource-changes'] ?? 0,
          destructions: given['resource-destructions'] ?? 0,
          imports: given['resource-imports'] ?? 0,
        };
        const report: PhaseReport =
          status === 'finished'
            ? { kind: status, counts, hasChanges: given['has-changes'] ?? false }
            : { kind: status };
        await reportPhase(context, principal, params.run_id, report);
        return undefined;
      },
    }),
    endpoint({
      method: 'POST',
      path: '/agent-runs/:run_id/logs',
      summary: 'Add text to the log of the phase',
      body: { schema: LOG },
      success: 204,
      handle: async ({ principal, params, body }) => {
        const { text } = body.data.attributes;
        await writeLog(context, principal, params.run_id, text);
        return undefined;
      },
    }),
  ]);
  return [
    ...documents,
    signedDownload(context, 'agents', {
      path: '/downloads/logs/:phase_id',
      signedIn: 'path',
      summary: 'Read the log of a plan or apply; `offset` and `limit` count bytes',
      mediaTypes: ['text/plain'],
      handle: async ({ params, query }, reader) => {
        const phaseId = params.phase_id;
        const { run, permissions } = await requireRun(context.store, reader, toRunId(phaseId));
        // The log of an assessment contains values, as a plan does.
        if (isAssessment(run) && !permissions.canUpdate) throw notFound('log');
        const range = {
          offset: toNumber(query.get('offset'), 0),
          limit: Math.min(toNumber(query.get('limit'), MAX_READ_BYTES), MAX_READ_BYTES),
        };
        const bytes = await readLog(context, phaseId, range);
        return edgeResponse(200, { 'content-type': 'text/plain; charset=utf-8' }, bytes);
      },
    }),
  ];
};
