/** A phase as its agent receives it: what to run, with which values, and the URLs of its files. */
import {
  choice,
  orNull,
  type ResourceOf,
  relatedOne,
  resourceSchema,
  timestamp,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { RUN_STATUSES } from '../../base/run-status.ts';
import type { SignUrl } from '../../base/signed-urls/signed-url-operations.ts';
import { downloadPath } from '../../state/state-versions/state-version-document.ts';
import { VARIABLE_CATEGORIES } from '../../workspaces/variables/domain/variable.ts';
import { runFilePath } from '../lifecycle/run-file-paths.ts';
import { isAssessment } from '../model/domain/run.ts';
import { type RunFileKind, toPhase, toPhaseId } from '../model/run-records.ts';
import { TOKEN_PURPOSES } from '../workload-identity/domain/wanted-tokens.ts';
import type { AgentRun, ClaimedRun } from './agent-run-operations.ts';

const text = Type.String();
const ofPlan = Type.Optional(Type.String({ description: 'Signed; for a plan.' }));
const ofApply = Type.Optional(Type.String({ description: 'Signed; for an apply.' }));

export const AGENT_RUN = resourceSchema({
  type: 'agent-runs',
  description: 'A phase of a run as its agent receives it.',
  attributes: {
    phase: choice(['plan', 'apply']),
    status: choice(RUN_STATUSES),
    'organization-name': text,
    'workspace-id': text,
    'workspace-name': text,
    'working-directory': Type.String({ description: 'Empty: the root of the configuration.' }),
    'runtime-version': orNull(
      Type.String({ description: 'The release to use; null if none satisfies the constraint.' }),
    ),
    'runtime-version-constraint': text,
    'is-destroy': Type.Boolean(),
    refresh: Type.Boolean(),
    'refresh-only': Type.Boolean(),
    'is-assessment': Type.Boolean(),
    'allowed-egress': orNull(
      Type.Array(text, {
        description:
          'What alone the run may reach, by its agent pool; null if that does not limit it.',
      }),
    ),
    'target-addrs': Type.Array(text),
    'replace-addrs': Type.Array(text),
    'cancel-requested-at': orNull(timestamp()),
    variables: Type.Array(
      Type.Object({
        key: text,
        value: text,
        category: choice(VARIABLE_CATEGORIES),
        hcl: Type.Boolean(),
        sensitive: Type.Boolean(),
      }),
      { description: 'With all values, also the sensitive ones.' },
    ),
    'configuration-download-url': Type.String({ description: 'Signed.' }),
    'state-download-url': orNull(Type.String({ description: 'Signed; null without a state.' })),
    'plan-file-upload-url': ofPlan,
    'json-output-upload-url': ofPlan,
    'json-output-redacted-upload-url': ofPlan,
    'json-schema-upload-url': Type.Optional(
      Type.String({ description: 'Signed; for the plan of an assessment.' }),
    ),
    'plan-file-download-url': ofApply,
    'errored-state-upload-url': ofApply,
    token: Type.Optional(
      Type.String({ description: 'With which the agent acts; only when it is claimed.' }),
    ),
    'ssh-private-key': Type.Optional(
      Type.String({ description: 'Only when it is claimed, if the workspace has a key.' }),
    ),
    'workload-identity-tokens': Type.Optional(
      Type.Array(
        Type.Object({
          purpose: choice(TOKEN_PURPOSES),
          tag: Type.String({ description: 'Of the variables; empty without one.' }),
          token: Type.String({
            description: 'Empty if the audience is, is too long, or is one too many.',
          }),
        }),
        { description: 'With which the phase signs in elsewhere; only when it is claimed.' },
      ),
    ),
  },
  relationships: { agent: relatedOne('agents') },
});

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
      .map((given) => ({ ...given, category: 'terraform' as const, hcl: true, sensitive: false })),
  ];
};

/** @param runtimeVersion the release that satisfies the run's constraint, null when there is none */
export const toAgentRunResource = (
  claimed: AgentRun & Partial<Pick<ClaimedRun, 'token' | 'sshKey' | 'workloadTokens'>>,
  runtimeVersion: string | null,
  sign: SignUrl,
): ResourceOf<typeof AGENT_RUN> => {
  const { run, workspace, stateId, organizationName, token, sshKey, workloadTokens } = claimed;
  const { settings } = workspace;
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
      'allowed-egress': claimed.allowedEgress,
      'target-addrs': run.targetAddrs,
      'replace-addrs': run.replaceAddrs,
      'cancel-requested-at':
        run.cancelRequestedAtMs === null ? null : toTimestamp(run.cancelRequestedAtMs),
      variables: toVariables(claimed),
      'configuration-download-url': sign(
        'GET',
        `/downloads/configuration-versions/${run.configurationVersionId}`,
      ),
      'state-download-url': stateId === null ? null : sign('GET', downloadPath(stateId, 'state')),
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
      ...(workloadTokens === undefined ? {} : { 'workload-identity-tokens': [...workloadTokens] }),
    },
    relationships: { agent: toOne('agents', run.agentId) },
  };
};
