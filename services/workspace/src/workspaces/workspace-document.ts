import { API_PREFIX, type Resource, toMany, toOne, toTimestamp } from '@keelson/jsonapi';
import type { WorkspaceAccessResult } from '../access/access-operations.ts';
import { toAssessmentId } from '../assessments/domain/assessment.ts';
import { decideAutoDestroy } from '../auto-destroy/domain/auto-destroy.ts';
import type { Lock } from '../locking/domain/lock.ts';
import { clientName, type OAuthClient, repositoryUrl } from '../oauth/domain/oauth-client.ts';
import type { RetentionPolicy } from '../retention/domain/retention-policy.ts';
import { toRetention } from '../retention/retention-document.ts';
import { toPerformance } from '../runs/domain/run-performance.ts';
import { toOutputIds } from '../states/domain/output-id.ts';
import { toKebabKeys } from '../validation/attribute-names.ts';
import { decideEffectiveExecution } from './domain/execution.ts';
import type { VcsRepository } from './domain/workspace.ts';

const HOLDER_TYPES = { user: 'users', team: 'teams', run: 'runs' } as const;

const toVcsRepository = (
  { vcsAppInstallationId, ...repository }: VcsRepository,
  client: OAuthClient | null,
): Record<string, unknown> => ({
  ...toKebabKeys(repository),
  'display-identifier': repository.identifier,
  // Both names of one attribute (docs/divergences/workspaces.md).
  'vcs-app-installation-id': vcsAppInstallationId,
  'github-app-installation-id': vcsAppInstallationId,
  'repository-http-url': client && repositoryUrl(client, repository.identifier),
  'service-provider': client?.serviceProvider ?? null,
  // Pushes are told to nobody here.
  'webhook-url': null,
});

const toLockedBy = (lock: Lock | null) =>
  lock === null ? toOne('users', null) : toOne(HOLDER_TYPES[lock.holder.kind], lock.holder.id);

const toReadmeId = (workspaceId: string): string => workspaceId.replace('ws-', 'readme-');

export const toReadmeResource = (workspaceId: string, markdown: string): Resource => ({
  id: toReadmeId(workspaceId),
  type: 'workspace-readme',
  attributes: { 'raw-markdown': markdown },
});

/**
 * A workspace as its reader sees it: effective values, and the reader's own permissions.
 * @param sitePolicy what is kept where neither the workspace nor its organization says it
 */
export const toWorkspaceResource = (
  access: WorkspaceAccessResult,
  sitePolicy: RetentionPolicy | null,
): Resource => {
  const { workspace, project, organization, permissions, oauthClient } = access;
  const { vcsRepo, autoDestroyAtMs: _, runtimeVersion, ...settings } = workspace.settings;
  const execution = decideEffectiveExecution(
    workspace.ownExecution,
    project.ownExecution,
    organization.defaultExecution,
  );
  const performance = toPerformance(workspace.runs);
  const currentRunId = workspace.runs.current?.id ?? null;
  const hasOwnExecution = workspace.ownExecution !== null;
  const self = `${API_PREFIX}/workspaces/${workspace.id}`;
  const autoDestroy = decideAutoDestroy(workspace, project);
  const { autoDestroyed } = workspace;
  const assessed = workspace.assessments?.result ?? null;
  return {
    id: workspace.id,
    type: 'workspaces',
    attributes: {
      ...toKebabKeys(settings),
      name: workspace.name,
      actions: { 'is-destroyable': permissions.canDestroy },
      'auto-destroy-at': autoDestroy.atMs === null ? null : toTimestamp(autoDestroy.atMs),
      'auto-destroy-activity-duration': autoDestroy.activityDuration,
      'assessments-enabled':
        settings.assessmentsEnabled || organization.settings.assessmentsEnforced,
      'auto-destroy-status':
        autoDestroyed?.atMs === autoDestroy.atMs ? (autoDestroyed?.status ?? null) : null,
      'inherits-project-auto-destroy': autoDestroy.inheritsFromProject,
      'created-at': toTimestamp(workspace.createdAtMs),
      'updated-at': toTimestamp(workspace.updatedAtMs),
      'latest-change-at': toTimestamp(workspace.latestChangeAtMs),
      'last-assessment-result-at': assessed === null ? null : toTimestamp(assessed.atMs),
      environment: 'default',
      'execution-mode': execution.mode,
      operations: execution.mode !== 'local',
      locked: workspace.lock !== null,
      'locked-reason': workspace.lock?.reason ?? '',
      'oauth-client-name': oauthClient && clientName(oauthClient),
      permissions: toKebabKeys(permissions),
      'can-queue-destroy-plan': permissions.canQueueDestroy,
      'resource-count': workspace.state.resourceCount,
      'setting-overwrites': { 'execution-mode': hasOwnExecution, 'agent-pool': hasOwnExecution },
      source: workspace.source,
      'source-name': workspace.sourceName,
      'source-url': workspace.sourceUrl,
      'tag-names': workspace.tagBindings
        .filter(({ value }) => value === null)
        .map(({ key }) => key),
      'runtime-version': runtimeVersion,
      'terraform-version': runtimeVersion,
      'vcs-repo': vcsRepo === null ? null : toVcsRepository(vcsRepo, oauthClient),
      'vcs-repo-identifier': vcsRepo?.identifier ?? null,
      'apply-duration-average': performance.applyDurationAverageMs,
      'plan-duration-average': performance.planDurationAverageMs,
      'policy-check-failures': 0,
      'run-failures': performance.failures,
      'workspace-kpis-runs-count': performance.count,
      'workspace-kpis-run-count': performance.count,
    },
    relationships: {
      organization: toOne(
        'organizations',
        organization.name,
        `${API_PREFIX}/organizations/${organization.name}`,
      ),
      project: toOne('projects', project.id, `${API_PREFIX}/projects/${project.id}`),
      'agent-pool': toOne('agent-pools', execution.agentPoolId),
      'data-retention-policy': toRetention(
        workspace.retentionPolicy ?? organization.retentionPolicy ?? sitePolicy,
        `${self}/relationships/data-retention-policy`,
      ),
      'ssh-key': toOne('ssh-keys', workspace.sshKeyId),
      'locked-by': toLockedBy(workspace.lock),
      'current-run': toOne('runs', currentRunId),
      'latest-run': toOne('runs', currentRunId),
      'current-state-version': toOne(
        'state-versions',
        permissions.canReadStateVersions ? workspace.state.currentId : null,
        `${self}/current-state-version`,
      ),
      'current-configuration-version': toOne(
        'configuration-versions',
        workspace.currentConfigurationVersionId,
      ),
      'current-assessment-result': toOne(
        'assessment-results',
        assessed && toAssessmentId(assessed.runId),
        `${self}/current-assessment-result`,
      ),
      readme: toOne('workspace-readme', workspace.hasReadme ? toReadmeId(workspace.id) : null),
      outputs: toMany(
        'workspace-outputs',
        permissions.canReadStateOutputs
          ? toOutputIds(workspace.state.currentId, workspace.state.outputCount)
          : [],
      ),
      vars: toMany('vars', permissions.canReadVariable ? workspace.variableIds : []),
      'remote-state-consumers': {
        links: { related: `${self}/relationships/remote-state-consumers` },
      },
      'tag-bindings': { links: { related: `${self}/tag-bindings` } },
      'effective-tag-bindings': { links: { related: `${self}/effective-tag-bindings` } },
    },
    links: {
      self: `${API_PREFIX}/organizations/${organization.name}/workspaces/${workspace.name}`,
      'self-html': `/app/${organization.name}/workspaces/${workspace.name}`,
    },
  };
};
