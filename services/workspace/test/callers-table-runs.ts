/** The table of callers, continued: configurations, runs, and the agents that execute them. */
import {
  attributes,
  BACKING_DATA_PATHS,
  type Caller,
  type Case,
  MEMBERS,
  O,
  ON,
  READERS,
  W,
} from './callers-table.ts';

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
  comment: {
    target: '/runs/{newRun}/comments',
    type: 'comments',
    values: { body: 'why' },
    relationships: {},
  },
} as const;

const PLANNERS: readonly Caller[] = ['plan', 'write', 'admin', 'manager', 'owner'];
const APPLIERS: readonly Caller[] = ['write', 'admin', 'manager', 'owner'];
const ADMINS: readonly Caller[] = ['admin', 'manager', 'organization', 'owner'];
const AGENT: readonly Caller[] = ['agent'];
const RUN: readonly Caller[] = ['run'];
/** Callers who may manage agent pools. */
const POOL_MANAGERS: readonly Caller[] = ['organization', 'owner'];

const run = '/runs/{newRun}';
const action = (name: string, allowed: readonly Caller[], success: number): Case => ({
  target: `${run}/actions/${name}`,
  allowed,
  success,
});
const read = (target: string): Case => ({ target, allowed: READERS, success: 200 });
const RUN_READERS = READERS.filter((caller) => caller !== 'organization');
const EDITORS: readonly Caller[] = ['admin', 'manager', 'owner'];
const file = (target: string, allowed: readonly Caller[]): Case => ({
  target,
  allowed,
  success: 204,
});
const signed = (target: string): Case => ({ target, allowed: [], success: 0, everyone: 403 });

export const RUN_CASES: Readonly<Record<string, Case>> = {
  [`POST ${W}/run-triggers`]: {
    target: '/workspaces/{ws}/run-triggers',
    body: attributes(
      'run-triggers',
      {},
      { sourceable: { data: { type: 'workspaces', id: '{fresh}' } } },
    ),
    allowed: ADMINS,
    success: 201,
  },
  [`GET ${W}/run-triggers`]: read(
    '/workspaces/{ws}/run-triggers?filter[run-trigger][type]=inbound',
  ),
  'GET /run-triggers/{run_trigger_id}': read('/run-triggers/{trigger}'),
  'DELETE /run-triggers/{run_trigger_id}': {
    target: '/run-triggers/{trigger}',
    allowed: ADMINS,
    success: 204,
  },
  [`POST ${W}/configuration-versions`]: {
    target: '/workspaces/{ws}/configuration-versions',
    body: attributes('configuration-versions'),
    allowed: PLANNERS,
    success: 201,
  },
  [`GET ${W}/configuration-versions`]: read('/workspaces/{ws}/configuration-versions'),
  'GET /configuration-versions/{configuration_version_id}': read('/configuration-versions/{cv}'),
  'GET /configuration-versions/{configuration_version_id}/ingress-attributes': read(
    '/configuration-versions/{cv}/ingress-attributes',
  ),
  'GET /runs/{run_id}/configuration-version': read(`${run}/configuration-version`),
  'GET /runs/{run_id}/plan': read(`${run}/plan`),
  // It is the current one: 409 is for who could.
  'POST /configuration-versions/{configuration_version_id}/actions/archive': {
    target: '/configuration-versions/{cv}/actions/archive',
    allowed: ADMINS,
    success: 409,
  },
  ...Object.fromEntries(
    // It is current and cannot be changed, so authorized callers get 400.
    BACKING_DATA_PATHS.map((action): [string, Case] => [
      `POST /configuration-versions/{configuration_version_id}/actions/${action}`,
      {
        target: `/configuration-versions/{cv}/actions/${action}`,
        allowed: ADMINS,
        success: 400,
      },
    ]),
  ),
  'PUT /uploads/configuration-versions/{configuration_version_id}': signed(
    '/uploads/configuration-versions/{cv}',
  ),
  'GET /downloads/configuration-versions/{configuration_version_id}/{token_id}': signed(
    '/downloads/configuration-versions/{cv}/{at}',
  ),
  'POST /runs': {
    target: '/runs',
    body: attributes('runs', RUN_USED_UP.newRun.values, RUN_USED_UP.newRun.relationships),
    allowed: PLANNERS,
    success: 201,
  },
  [`GET ${W}/runs`]: read('/workspaces/{ws}/runs'),
  [`GET ${ON}/runs`]: { target: `${O}/runs`, allowed: MEMBERS, success: 200 },
  [`GET ${ON}/runs/queue`]: { target: `${O}/runs/queue`, allowed: MEMBERS, success: 200 },
  [`GET ${W}/run-statistics`]: read('/workspaces/{ws}/run-statistics'),
  [`GET ${ON}/run-statistics`]: {
    target: `${O}/run-statistics`,
    allowed: MEMBERS,
    success: 200,
  },
  [`GET ${ON}/capacity`]: { target: `${O}/capacity`, allowed: MEMBERS, success: 200 },
  'GET /runs/{run_id}': read(run),
  'GET /runs/{run_id}/run-events': read(`${run}/run-events`),
  'GET /run-events/{run_event_id}': read('/run-events/{event}'),
  'GET /runs/{run_id}/comments': read(`${run}/comments`),
  'GET /runs/{run_id}/task-stages': read(`${run}/task-stages`),
  'GET /runs/{run_id}/policy-checks': read(`${run}/policy-checks`),
  'GET /runs/{run_id}/policy-evaluations': read(`${run}/policy-evaluations`),
  'POST /runs/{run_id}/comments': {
    target: `${run}/comments`,
    body: attributes('comments', { body: 'why' }),
    allowed: PLANNERS,
    success: 201,
  },
  'GET /comments/{comment_id}': read('/comments/{comment}'),
  'GET /runs/{run_id}/configuration-version/download': {
    ...read(`${run}/configuration-version/download`),
    success: 302,
  },
  'GET /configuration-versions/{configuration_version_id}/download': {
    ...read('/configuration-versions/{cv}/download'),
    success: 302,
  },
  // The run has not ended: 400 is for who could.
  ...Object.fromEntries(
    ['plans/{plan}', 'applies/{apply}'].flatMap((phase) =>
      BACKING_DATA_PATHS.map((name): [string, Case] => [
        `POST /${phase.split('/')[0]}/{phase_id}/actions/${name}`,
        { target: `/${phase}/actions/${name}`, allowed: ADMINS, success: 400 },
      ]),
    ),
  ),
  // There is no such file yet, so callers who may read it get 204.
  'GET /plans/{phase_id}/json-output': file('/plans/{plan}/json-output', EDITORS),
  'GET /runs/{run_id}/plan/json-output': file(`${run}/plan/json-output`, EDITORS),
  'GET /plans/{phase_id}/json-output-redacted': file(
    '/plans/{plan}/json-output-redacted',
    RUN_READERS,
  ),
  'GET /runs/{run_id}/plan/json-output-redacted': file(
    `${run}/plan/json-output-redacted`,
    RUN_READERS,
  ),
  'GET /applies/{phase_id}/errored-state': file('/applies/{apply}/errored-state', APPLIERS),
  // There is nothing to confirm, discard or force, so authorized callers get 409.
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
  'GET /runs/{run_id}/apply': read(`${run}/apply`),
  // The last assessment is in the past, and assessments were disabled after it.
  [`POST ${W}/actions/assess`]: {
    target: '/workspaces/{ws}/actions/assess',
    allowed: ADMINS,
    success: 409,
  },
  [`GET ${W}/current-assessment-result`]: read('/workspaces/{ws}/current-assessment-result'),
  'GET /assessment-results/{assessment_result_id}': read('/assessment-results/{assessed}'),
  // Its agent has uploaded nothing, so callers who may read it get 204.
  'GET /assessment-results/{assessment_result_id}/json-output': file(
    '/assessment-results/{assessed}/json-output',
    EDITORS,
  ),
  'GET /assessment-results/{assessment_result_id}/json-schema': file(
    '/assessment-results/{assessed}/json-schema',
    EDITORS,
  ),
  'GET /assessment-results/{assessment_result_id}/log-output': {
    ...file('/assessment-results/{assessed}/log-output', EDITORS),
    success: 307,
  },
  'POST /agents': {
    target: '/agents',
    body: attributes('agents', { name: 'another' }),
    allowed: AGENT,
    success: 201,
  },
  'PATCH /agents/{agent_id}': {
    target: '/agents/{agent}',
    body: attributes('agents'),
    allowed: AGENT,
    success: 200,
  },
  'GET /agents/{agent_id}': { target: '/agents/{agent}', allowed: MEMBERS, success: 200 },
  // The agent is in use, so callers who may delete agents get 412.
  'DELETE /agents/{agent_id}': {
    target: '/agents/{agent}',
    allowed: POOL_MANAGERS,
    success: 412,
  },
  'GET /agent-pools/{agent_pool_id}/agents': {
    target: '/agent-pools/{pool}/agents',
    allowed: MEMBERS,
    success: 200,
  },
  'POST /agent-runs/actions/claim': {
    target: '/agent-runs/actions/claim',
    body: { data: { type: 'agents', id: '{freshAgent}' }, waiting: '{newRun}' },
    allowed: AGENT,
    success: 200,
  },
  'POST /runner/actions/claim': {
    target: '/runner/actions/claim',
    body: attributes('agents', { name: 'runner-1', version: '1', 'runtime-versions': ['1.11.4'] }),
    allowed: ['runner'],
    // The runs of this organization are its agents'.
    success: 204,
  },
  'GET /agent-runs/{run_id}': {
    target: '/agent-runs/{claimed}',
    allowed: RUN,
    success: 200,
  },
  'PATCH /agent-runs/{run_id}': {
    target: '/agent-runs/{claimed}',
    body: attributes('agent-runs', { status: 'errored' }),
    allowed: RUN,
    success: 204,
  },
  'POST /agent-runs/{run_id}/logs': {
    target: '/agent-runs/{claimed}/logs',
    body: attributes('logs', { text: 'Planning\n' }),
    allowed: RUN,
    success: 204,
  },
  'POST /agent-repository-work/actions/claim': {
    target: '/agent-repository-work/actions/claim',
    body: { data: { type: 'agents', id: '{freshAgent}' }, waiting: '{waitingWork}' },
    allowed: AGENT,
    success: 200,
  },
  'POST /agent-repository-work/{work_id}/actions/report-commit': {
    target: '/agent-repository-work/{work}/actions/report-commit',
    body: attributes('agent-repository-work', {
      'default-branch': 'main',
      commit: null,
      'changed-files': null,
    }),
    allowed: AGENT,
    success: 200,
  },
  'PATCH /agent-repository-work/{work_id}': {
    target: '/agent-repository-work/{work}',
    body: attributes('agent-repository-work', { status: 'errored' }),
    allowed: AGENT,
    success: 204,
  },
  'PUT /uploads/repository-archives/{work_id}/{kind}': signed(
    '/uploads/repository-archives/arw-1/plain',
  ),
  'GET /downloads/logs/{phase_id}/{token_id}/{expires}/{signature}': signed(
    '/downloads/logs/plan-1/{at}/1/x',
  ),
  'PUT /uploads/run-files/{phase_id}/{kind}': signed('/uploads/run-files/plan-1/plan-file'),
  'GET /downloads/run-files/{phase_id}/{kind}/{token_id}': signed(
    '/downloads/run-files/plan-1/plan-file/{at}',
  ),
};
