/** A phase as its agent sees it: what to run, with which values, and where its files come and go. */
import { type Resource, toTimestamp } from '@keelson/jsonapi';
import { isAssessment } from '../runs/domain/run.ts';
import { runFilePath } from '../runs/run-file-paths.ts';
import { type RunFileKind, toPhase, toPhaseId } from '../runs/run-records.ts';
import type { SignUrl } from '../signed-urls/signed-url-operations.ts';
import { downloadPath } from '../states/state-version-document.ts';
import type { AgentRun } from './agent-run-operations.ts';

const toVariables = ({ run, variables }: AgentRun) => [
  // An agent needs the values, sensitive ones included.
  ...variables.map(({ key, value, category, hcl, sensitive }) => ({
    key,
    value,
    category,
    hcl,
    sensitive,
  })),
  ...run.variables.map((given) => ({
    ...given,
    category: 'terraform',
    hcl: true,
    sensitive: false,
  })),
];

/** @param runtimeVersion the release that the run's constraint stands for, null when none does */
export const toAgentRunResource = (
  claimed: AgentRun & { readonly token?: string },
  runtimeVersion: string | null,
  sign: SignUrl,
): Resource => {
  const { run, workspace, organizationName, token } = claimed;
  const { settings, state } = workspace;
  const phase = toPhase(run);
  const planId = toPhaseId(run.id, 'plan');
  const upload = (kind: RunFileKind) =>
    sign('PUT', runFilePath('uploads', toPhaseId(run.id, phase), kind));
  return {
    id: run.id,
    type: 'agent-runs',
    attributes: {
      phase,
      status: run.status,
      'organization-name': organizationName,
      'workspace-id': workspace.id,
      'workspace-name': workspace.name,
      // A slash at its start is the root of the configuration, never of the agent's machine.
      'working-directory': settings.workingDirectory?.replace(/^\/+/, '') ?? '',
      'runtime-version': runtimeVersion,
      'is-destroy': run.isDestroy,
      refresh: run.refresh,
      'refresh-only': run.refreshOnly,
      'is-assessment': isAssessment(run),
      'target-addrs': run.targetAddrs,
      'replace-addrs': run.replaceAddrs,
      'cancel-requested-at':
        run.cancelRequestedAtMs === null ? null : toTimestamp(run.cancelRequestedAtMs),
      variables: toVariables(claimed),
      'configuration-download-url': sign(
        'GET',
        `/downloads/configuration-versions/${run.configurationVersionId}`,
      ),
      'state-download-url':
        state.currentId === null ? null : sign('GET', downloadPath(state.currentId, 'state')),
      ...(phase === 'plan'
        ? {
            'plan-file-upload-url': upload('plan-file'),
            'json-output-upload-url': upload('json-output'),
            'json-output-redacted-upload-url': upload('json-output-redacted'),
            ...(isAssessment(run) && { 'json-schema-upload-url': upload('json-schema') }),
          }
        : {
            'plan-file-download-url': sign('GET', runFilePath('downloads', planId, 'plan-file')),
            'errored-state-upload-url': upload('errored-state'),
          }),
      ...(token === undefined ? {} : { token }),
    },
  };
};
