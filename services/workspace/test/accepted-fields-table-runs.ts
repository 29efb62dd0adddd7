/** The table of accepted fields, continued: data retention, states, configurations, runs and agents. */
import { elsewhere, type FieldGroup, ON, refused, shown, W } from './field-effects.ts';

const SETS_TEST = 'src/workspaces/variable-sets/variable-sets.integration.test.ts';
const RUNS_TEST = 'src/runs/lifecycle/runs.integration.test.ts';
const STATES_TEST = 'src/state/state-versions/states.integration.test.ts';
const AGENT_WORK_TEST = 'src/vcs/agent-work/agent-work.integration.test.ts';
const AGENTS_TEST = 'src/runs/agents/agents.integration.test.ts';

export const RUN_FIELD_GROUPS: Readonly<Record<string, FieldGroup>> = {
  'data retention policies': {
    routes: ['POST', 'PATCH'].flatMap((method) => [
      `${method} ${W}/relationships/data-retention-policy`,
      `${method} ${ON}/relationships/data-retention-policy`,
      `${method} /admin/data-retention-policy-settings`,
    ]),
    triedOn: ['update'],
    fields: {
      'delete-older-than-n-days': shown(30),
      deleteStateVersions: shown(true, true, { stateVersionsDeleteAfterNDays: 5 }),
      stateVersionsDeleteAfterNDays: shown(5, 5, { deleteStateVersions: true }),
      stateVersionsKeepLatestCount: shown(5, 5, { deleteStateVersions: true }),
      deleteConfigurationVersions: shown(true, true, { configurationVersionsDeleteAfterNDays: 5 }),
      configurationVersionsDeleteAfterNDays: shown(5, 5, { deleteConfigurationVersions: true }),
      configurationVersionsKeepLatestCount: shown(5, 5, { deleteConfigurationVersions: true }),
      deleteRunDataAndLogs: shown(true, true, { runDataAndLogsDeleteAfterNDays: 5 }),
      runDataAndLogsDeleteAfterNDays: shown(5, 5, { deleteRunDataAndLogs: true }),
      runDataKeepLatestCount: shown(5, 5, { deleteRunDataAndLogs: true }),
    },
  },
  'state versions': {
    routes: [`POST ${W}/state-versions`, `PATCH ${W}/state-versions`],
    fields: {
      serial: elsewhere(STATES_TEST),
      md5: elsewhere(STATES_TEST),
      lineage: elsewhere(STATES_TEST),
      force: elsewhere(STATES_TEST),
      intermediate: elsewhere(STATES_TEST),
      state: elsewhere(STATES_TEST),
      'json-state': elsewhere(STATES_TEST),
      // The outputs are those of the state.
      'json-state-outputs': elsewhere('src/state/state-versions/state-outputs.integration.test.ts'),
      '@run': elsewhere(STATES_TEST, 'run'),
      '@rollback-state-version': elsewhere(
        'src/state/state-versions/rollbacks.integration.test.ts',
      ),
    },
  },
  'configuration versions': {
    routes: [`POST ${W}/configuration-versions`],
    triedOn: ['create'],
    fields: {
      'auto-queue-runs': shown(false),
      speculative: shown(true),
      provisional: shown(true),
    },
  },
  runs: {
    routes: ['POST /runs'],
    triedOn: ['create'],
    fields: {
      message: shown('why'),
      'is-destroy': shown(true),
      refresh: shown(false),
      'refresh-only': shown(true),
      'auto-apply': shown(true),
      'plan-only': shown(true),
      'save-plan': shown(true),
      'allow-empty-apply': shown(true),
      'target-addrs': shown(['a.b']),
      'replace-addrs': shown(['a.b']),
      // Only a run without an apply may have another release than its workspace.
      'runtime-version': shown('1.5.7', '1.5.7', { 'plan-only': true }),
      'variables/key': elsewhere(SETS_TEST, 'variables: ['),
      'variables/value': elsewhere(SETS_TEST, 'variables: ['),
      '@workspace': elsewhere(RUNS_TEST, 'workspace'),
      '@configuration-version': elsewhere(RUNS_TEST),
      'allow-config-generation': refused(true),
      'debugging-mode': refused(true),
      'invoke-action-addrs': refused(['action.a.b']),
      'policy-paths': refused(['a']),
    },
  },
  'comments of runs': {
    routes: [
      'POST /runs/{run_id}/comments',
      ...['apply', 'discard', 'cancel', 'force-cancel', 'force-execute'].map(
        (action) => `POST /runs/{run_id}/actions/${action}`,
      ),
    ],
    fields: {
      body: elsewhere('src/runs/lifecycle/run-history.integration.test.ts'),
      comment: elsewhere('src/runs/lifecycle/run-history.integration.test.ts'),
    },
  },
  'run triggers': {
    routes: [`POST ${W}/run-triggers`],
    fields: { '@sourceable': elsewhere('src/runs/run-triggers/run-triggers.integration.test.ts') },
  },
  agents: {
    routes: [
      'POST /agents',
      'PATCH /agents/{agent_id}',
      'POST /agent-runs/actions/claim',
      'POST /runner/actions/claim',
    ],
    fields: {
      name: elsewhere(AGENTS_TEST),
      version: elsewhere('src/runs/runner/runner.integration.test.ts'),
      status: elsewhere(AGENTS_TEST),
      'runtime-versions': elsewhere('src/runs/runner/runner.integration.test.ts'),
    },
  },
  'reports of agents': {
    routes: ['PATCH /agent-runs/{run_id}', 'POST /agent-runs/{run_id}/logs'],
    fields: {
      status: elsewhere('test/run-harness.ts'),
      'has-changes': elsewhere('test/run-harness.ts'),
      'resource-additions': elsewhere(RUNS_TEST),
      'resource-changes': elsewhere(RUNS_TEST),
      'resource-destructions': elsewhere(RUNS_TEST),
      'resource-imports': elsewhere(RUNS_TEST),
      text: elsewhere(RUNS_TEST),
    },
  },
  'work of agents at repositories': {
    routes: [
      'POST /agent-repository-work/actions/claim',
      'POST /agent-repository-work/{work_id}/actions/report-commit',
      'PATCH /agent-repository-work/{work_id}',
    ],
    fields: {
      'default-branch': elsewhere(AGENT_WORK_TEST),
      'commit/sha': elsewhere(AGENT_WORK_TEST),
      'commit/author': elsewhere(AGENT_WORK_TEST),
      'commit/message': elsewhere(AGENT_WORK_TEST),
      'changed-files': elsewhere(AGENT_WORK_TEST),
      status: elsewhere(AGENT_WORK_TEST),
      'answer-status': elsewhere(AGENT_WORK_TEST),
      'answer-body': elsewhere(AGENT_WORK_TEST),
      'error-message': elsewhere(AGENT_WORK_TEST),
      'is-final': elsewhere(AGENT_WORK_TEST),
      'worker-died': elsewhere(AGENT_WORK_TEST),
    },
  },
};
