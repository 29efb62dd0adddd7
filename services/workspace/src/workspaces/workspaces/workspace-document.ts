import { API_PREFIX, type Resource, toMany, toOne, toTimestamp } from '@keelson/jsonapi';
import { decideEffectiveExecution } from '../../base/execution/domain/execution.ts';
import type { RetentionPolicy } from '../../base/retention/domain/retention-policy.ts';
import { toRetention } from '../../base/retention/retention-document.ts';
import { toKebabKeys } from '../../base/validation/attribute-names.ts';
import type { WorkspaceAccessResult } from '../access/access-operations.ts';
import { decideAutoDestroy } from '../model/domain/auto-destroy.ts';
import type { Lock } from '../model/domain/lock.ts';
import { clientName, type OAuthClient, repositoryUrl } from '../model/domain/oauth-client.ts';
import { type RepositoryHook, webhookUrl } from '../model/domain/repository-hook.ts';
import type { VcsRepository } from '../model/domain/workspace.ts';
import type { WorkspaceContribution } from '../seams/workspace-contributions.ts';

const HOLDER_TYPES = { user: 'users', team: 'teams', run: 'runs' } as const;

const toVcsRepository = (
  repository: VcsRepository,
  client: OAuthClient | null,
  hook: RepositoryHook | null,
): Record<string, unknown> => ({
  ...toKebabKeys(repository),
  'display-identifier': repository.identifier,
  'repository-http-url': client && repositoryUrl(client, repository.identifier),
  'service-provider': client?.serviceProvider ?? null,
  'webhook-url': hook && webhookUrl(hook),
  // The repository or webhook that cannot be reached, and why.
  problem: hook?.fetchProblem ?? hook?.hookProblem ?? null,
});

const toLockedBy = (lock: Lock | null) =>
  lock === null ? toOne('users', null) : toOne(HOLDER_TYPES[lock.holder.kind], lock.holder.id);

/**
 * A workspace as its reader sees it: effective values, and the reader's permissions.
 * @param contributions attributes and relationships of other capabilities and of later modules
 * @param sitePolicy retention policy that applies when neither the workspace nor its organization sets one
 */
export const toWorkspaceResource = (
  contributions: readonly WorkspaceContribution[],
  access: WorkspaceAccessResult,
  sitePolicy: RetentionPolicy | null,
): Resource => {
  const { workspace, project, organization, permissions, oauthClient, repositoryHook } = access;
  const { vcsRepo, autoDestroyAtMs: _, runtimeVersion, ...settings } = workspace.settings;
  const execution = decideEffectiveExecution(
    workspace.ownExecution,
    project.ownExecution,
    organization.defaultExecution,
  );
  const hasOwnExecution = workspace.ownExecution !== null;
  const self = `${API_PREFIX}/workspaces/${workspace.id}`;
  const autoDestroy = decideAutoDestroy(workspace, project);
  const { autoDestroyed } = workspace;
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
      environment: 'default',
      'execution-mode': execution.mode,
      operations: execution.mode !== 'local',
      locked: workspace.lock !== null,
      'locked-reason': workspace.lock?.reason ?? '',
      'oauth-client-name': oauthClient && clientName(oauthClient),
      permissions: toKebabKeys(permissions),
      'can-queue-destroy-plan': permissions.canQueueDestroy,
      'setting-overwrites': { 'execution-mode': hasOwnExecution, 'agent-pool': hasOwnExecution },
      source: workspace.source,
      'source-name': workspace.sourceName,
      'source-url': workspace.sourceUrl,
      'tag-names': workspace.tagBindings
        .filter(({ value }) => value === null)
        .map(({ key }) => key),
      'runtime-version': runtimeVersion,
      'terraform-version': runtimeVersion,
      'vcs-repo': vcsRepo === null ? null : toVcsRepository(vcsRepo, oauthClient, repositoryHook),
      'vcs-repo-identifier': vcsRepo?.identifier ?? null,
      ...Object.assign({}, ...contributions.map((part) => part.attributes?.(access))),
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
      vars: toMany('vars', permissions.canReadVariable ? workspace.variableIds : []),
      'remote-state-consumers': {
        links: { related: `${self}/relationships/remote-state-consumers` },
      },
      'tag-bindings': { links: { related: `${self}/tag-bindings` } },
      'effective-tag-bindings': { links: { related: `${self}/effective-tag-bindings` } },
      ...Object.assign({}, ...contributions.map((part) => part.relationships?.(access))),
    },
    links: {
      self: `${API_PREFIX}/organizations/${organization.name}/workspaces/${workspace.name}`,
      'self-html': `/app/${organization.name}/workspaces/${workspace.name}`,
    },
  };
};
