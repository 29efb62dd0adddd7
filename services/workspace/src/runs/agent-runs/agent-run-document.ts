/** A phase as its agent receives it: what to run, with which values, and the URLs of its files. */
import { type Resource, toOne, toTimestamp } from '@keelson/jsonapi';
import type { SignUrl } from '../../base/signed-urls/signed-url-operations.ts';
import { downloadPath } from '../../state/states/state-version-document.ts';
import { isAssessment } from '../model/domain/run.ts';
import { type RunFileKind, toPhase, toPhaseId } from '../model/run-records.ts';
import { runFilePath } from '../runs/run-file-paths.ts';
import type { AgentRun, ClaimedRun } from './agent-run-operations.ts';

/** Command-line variables override all others except those of priority sets. */
const toVariables = ({ run, variables }: AgentRun) => {
  const used = variables.filter(({ overwriterId }) => overwriterId === null);
  const isEnforced = (name: string): boolean =>
    used.some(
      ({ set, variable: { category, key } }) =>
        set?.priority === true && category === 'terraform' && key === name,
    );
  return [
    // The agent needs all values, including sensitive ones.
    ...used.map(({ variable: { key, value, category, hcl, sensitive } }) => ({
      key,
      value,
      category,
      hcl,
      sensitive,
    })),
    ...run.variables
      .filter(({ key }) => !isEnforced(key))
      .map((given) => ({ ...given, category: 'terraform', hcl: true, sensitive: false })),
  ];
};

/** @param runtimeVersion the release that satisfies the run's constraint, null when there is none */
export const toAgentRunResource = (
  claimed: AgentRun & Partial<Pick<ClaimedRun, 'token' | 'sshKey'>>,
  runtimeVersion: string | null,
  sign: SignUrl,
): Resource => {
  const { run, workspace, organizationName, token, sshKey } = claimed;
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
      // A leading slash means the root of the configuration, not of the agent's file system.
      'working-directory': settings.workingDirectory?.replace(/^\/+/, '') ?? '',
      'runtime-version': runtimeVersion,
      'runtime-version-constraint': run.terraformVersion,
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
      ...(sshKey === undefined ? {} : { 'ssh-private-key': sshKey }),
    },
    relationships: { agent: toOne('agents', run.agentId) },
  };
};
