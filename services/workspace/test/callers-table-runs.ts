/** The table of callers, continued: configurations, runs, and the agents that execute them. */
import { attributes, type Caller, type Case, MEMBERS, O, ON, READERS, W } from './callers-table.ts';

/** New runs of these plan only, so that they leave the lock to the other lines. */
export const RUN_USED_UP = {
  newRun: {
    target: '/runs',
    type: 'runs',
    values: { 'plan-only': true },
    relationships: {
      workspace: { data: { type: 'workspaces', id: '{ws}' } },
      'configuration-version': { data: { type: 'configuration-versions', id: '{cv}' } },
    },
  },
} as const;

const PLANNERS: readonly Caller[] = ['plan', 'write', 'admin', 'manager', 'owner'];
const APPLIERS: readonly Caller[] = ['write', 'admin', 'manager', 'owner'];
const ADMINS: readonly Caller[] = ['admin', 'manager', 'organization', 'owner'];
const AGENT: readonly Caller[] = ['agent'];

const run = '/runs/{newRun}';
const action = (name: string, allowed: readonly Caller[], success: number): Case => ({
  target: `${run}/actions/${name}`,
  allowed,
  success,
});
const read = (target: string): Case => ({ target, allowed: READERS, success: 200 });
const signed = (target: string): Case => ({ target, allowed: [], success: 0, everyone: 403 });

export const RUN_CASES: Readonly<Record<string, Case>> = {
  [`POST ${W}/configuration-versions`]: {
    target: '/workspaces/{ws}/configuration-versions',
    body: attributes('configuration-versions'),
    allowed: PLANNERS,
    success: 201,
  },
  [`GET ${W}/configuration-versions`]: read('/workspaces/{ws}/configuration-versions'),
  'GET /configuration-versions/{configuration_version_id}': read('/configuration-versions/{cv}'),
  // It is the current one: 409 is for who could.
  'POST /configuration-versions/{configuration_version_id}/actions/archive': {
    target: '/configuration-versions/{cv}/actions/archive',
    allowed: ADMINS,
    success: 409,
  },
  'PUT /uploads/configuration-versions/{configuration_version_id}': signed(
    '/uploads/configuration-versions/{cv}',
  ),
  'GET /downloads/configuration-versions/{configuration_version_id}': signed(
    '/downloads/configuration-versions/{cv}',
  ),
  'POST /runs': {
    target: '/runs',
    body: attributes('runs', RUN_USED_UP.newRun.values, RUN_USED_UP.newRun.relationships),
    allowed: PLANNERS,
    success: 201,
  },
  [`GET ${W}/runs`]: read('/workspaces/{ws}/runs'),
  [`GET ${ON}/runs`]: { target: `${O}/runs`, allowed: MEMBERS, success: 200 },
  'GET /runs/{run_id}': read(run),
  // There is nothing to confirm, to give up or to force: 409 is for who could.
  'POST /runs/{run_id}/actions/apply': action('apply', APPLIERS, 409),
  'POST /runs/{run_id}/actions/discard': action('discard', APPLIERS, 202),
  'POST /runs/{run_id}/actions/cancel': action('cancel', APPLIERS, 202),
  'POST /runs/{run_id}/actions/force-cancel': action('force-cancel', ADMINS, 409),
  'POST /runs/{run_id}/actions/force-execute': {
    ...action('force-execute', ADMINS, 409),
    others: { read: 403, plan: 403, write: 403 },
  },
  'GET /plans/{phase_id}': read('/plans/{plan}'),
  'GET /applies/{phase_id}': read('/applies/{apply}'),
  'POST /agent-runs/actions/claim': {
    target: '/agent-runs/actions/claim',
    body: { waiting: '{newRun}' },
    allowed: AGENT,
    success: 200,
  },
  'GET /agent-runs/{run_id}': {
    target: '/agent-runs/{claimed}',
    allowed: AGENT,
    success: 200,
  },
  'PATCH /agent-runs/{run_id}': {
    target: '/agent-runs/{claimed}',
    body: attributes('agent-runs', { status: 'errored' }),
    allowed: AGENT,
    success: 204,
  },
  'POST /agent-runs/{run_id}/logs': {
    target: '/agent-runs/{claimed}/logs',
    body: attributes('logs', { text: 'Planning\n' }),
    allowed: AGENT,
    success: 204,
  },
  'GET /downloads/logs/{phase_id}': signed('/downloads/logs/plan-1'),
};
