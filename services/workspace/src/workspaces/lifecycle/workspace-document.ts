import {
  API_PREFIX,
  choice,
  flags,
  orNull,
  type ResourceOf,
  type ResourceSchema,
  relatedLink,
  relatedMany,
  relatedOne,
  resourceSchema,
  timestamp,
  toMany,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import {
  decideEffectiveExecution,
  EXECUTION_MODES,
} from '../../base/execution/domain/execution.ts';
import type { RetentionPolicy } from '../../base/retention/domain/retention-policy.ts';
import { RETENTION_RELATIONSHIP, toRetention } from '../../base/retention/retention-document.ts';
import { toKebabKeys } from '../../base/validation/attribute-names.ts';
import type { ShownWorkspace } from '../access/shown-workspace.ts';
import { decideAutoDestroy } from '../model/domain/auto-destroy.ts';
import type { Lock } from '../model/domain/lock.ts';
import { clientName, type OAuthClient, repositoryUrl } from '../model/domain/oauth-client.ts';
import { type RepositoryHook, webhookUrl } from '../model/domain/repository-hook.ts';
import type { VcsRepository } from '../model/domain/workspace.ts';
import type { WorkspaceContribution } from '../seams/workspace-contributions.ts';

const HOLDER_TYPES = { user: 'users', team: 'teams', run: 'runs' } as const;

const VCS_REPOSITORY = Type.Object({
  identifier: Type.String({ description: '`:org/:repo`.' }),
  'display-identifier': Type.String(),
  branch: Type.String({ description: 'Empty: the default branch of the repository.' }),
  'tags-regex': orNull(Type.String()),
  'ingress-submodules': Type.Boolean(),
  'oauth-token-id': Type.String(),
  'service-provider': orNull(Type.String()),
  'repository-http-url': orNull(Type.String()),
  'webhook-url': orNull(Type.String()),
  problem: orNull(
    Type.String({ description: 'Why the repository or its webhook cannot be reached.' }),
  ),
});

const ownExecution = Type.Boolean({ description: 'False: inherited.' });

export const WORKSPACE = resourceSchema({
  type: 'workspaces',
  attributes: {
    name: Type.String(),
    description: orNull(Type.String()),
    actions: flags(['is-destroyable']),
    'allow-destroy-plan': Type.Boolean(),
    'assessments-enabled': Type.Boolean({
      description: 'True also where the organization enforces assessments.',
    }),
    'auto-apply': Type.Boolean(),
    'auto-apply-run-trigger': Type.Boolean(),
    'auto-destroy-at': orNull(timestamp()),
    'auto-destroy-activity-duration': orNull(
      Type.String({ description: 'A number with `d` for days or `h` for hours.' }),
    ),
    'auto-destroy-status': orNull(choice(['queued', 'errored', 'nothing-to-destroy'])),
    'can-queue-destroy-plan': Type.Boolean(),
    'created-at': timestamp(),
    environment: Type.String({ description: 'Always `default`.' }),
    'execution-mode': choice(EXECUTION_MODES, { description: 'Own or inherited.' }),
    'file-triggers-enabled': Type.Boolean(),
    'global-remote-state': Type.Boolean(),
    'inherits-project-auto-destroy': Type.Boolean(),
    'latest-change-at': timestamp('Of the newest state version, or of the creation.'),
    locked: Type.Boolean(),
    'locked-reason': Type.String({ description: 'Empty without a lock or a reason.' }),
    'oauth-client-name': orNull(Type.String()),
    operations: Type.Boolean({ description: 'False where the execution mode is `local`.' }),
    permissions: flags(
      [
        'can-create-state-versions',
        'can-destroy',
        'can-force-delete',
        'can-force-unlock',
        'can-lock',
        'can-manage-assessments',
        'can-manage-ephemeral-workspaces',
        'can-manage-run-tasks',
        'can-manage-tags',
        'can-queue-apply',
        'can-queue-destroy',
        'can-queue-run',
        'can-read-assessment-results',
        'can-read-run',
        'can-read-settings',
        'can-read-state-outputs',
        'can-read-state-versions',
        'can-read-variable',
        'can-unlock',
        'can-update',
        'can-update-variable',
      ],
      { description: 'Permissions of the caller.' },
    ),
    'project-remote-state': Type.Boolean(),
    'queue-all-runs': Type.Boolean(),
    'runtime-version': Type.String({ description: 'A release or a constraint.' }),
    'setting-overwrites': Type.Object({
      'execution-mode': ownExecution,
      'agent-pool': ownExecution,
    }),
    source: Type.String({ description: 'Client that created the workspace, such as `tfe-api`.' }),
    'source-name': orNull(Type.String()),
    'source-url': orNull(Type.String()),
    'speculative-enabled': Type.Boolean(),
    'structured-run-output-enabled': Type.Boolean(),
    'tag-names': Type.Array(Type.String(), { description: 'The flat tags.' }),
    'terraform-version': Type.String({ description: 'The same as `runtime-version`.' }),
    'trigger-patterns': Type.Array(Type.String()),
    'trigger-prefixes': Type.Array(Type.String()),
    'updated-at': timestamp(),
    'vcs-repo': orNull(VCS_REPOSITORY),
    'vcs-repo-identifier': orNull(Type.String()),
    'working-directory': orNull(Type.String()),
  },
  relationships: {
    organization: relatedOne('organizations', 'linked'),
    project: relatedOne('projects', 'linked'),
    'agent-pool': relatedOne('agent-pools'),
    'data-retention-policy': RETENTION_RELATIONSHIP,
    'ssh-key': relatedOne('ssh-keys'),
    'locked-by': relatedOne(Object.values(HOLDER_TYPES)),
    vars: relatedMany('vars'),
    'remote-state-consumers': relatedLink('workspaces'),
    'tag-bindings': relatedLink('tag-bindings'),
    'effective-tag-bindings': relatedLink('effective-tag-bindings'),
  },
  links: ['self', 'self-html'],
});

/** The schema with the parts that contributions add. */
export const toWorkspaceSchema = (
  contributions: readonly WorkspaceContribution[],
): ResourceSchema => ({
  ...WORKSPACE,
  attributes: Object.assign(
    {},
    WORKSPACE.attributes,
    ...contributions.map(({ schema }) => schema?.attributes),
  ),
  relationships: Object.assign(
    {},
    WORKSPACE.relationships,
    ...contributions.map(({ schema }) => schema?.relationships),
  ),
});

const toVcsRepository = (
  repository: VcsRepository,
  client: OAuthClient | null,
  hook: RepositoryHook | null,
) => ({
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
  access: ShownWorkspace,
  sitePolicy: RetentionPolicy | null,
): ResourceOf<typeof WORKSPACE> => {
  const {
    workspace,
    locking,
    state,
    project,
    organization,
    permissions,
    oauthClient,
    repositoryHook,
  } = access;
  const { vcsRepo, autoDestroyAtMs: _, runtimeVersion, ...settings } = workspace.settings;
  const execution = decideEffectiveExecution(
    workspace.ownExecution,
    project.ownExecution,
    organization.defaultExecution,
  );
  const hasOwnExecution = workspace.ownExecution !== null;
  const self = `${API_PREFIX}/workspaces/${workspace.id}`;
  const { latestChangeAtMs } = state;
  const autoDestroy = decideAutoDestroy({ ...workspace, latestChangeAtMs }, project);
  const { autoDestroyed, variables } = access;
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
      'latest-change-at': toTimestamp(latestChangeAtMs),
      environment: 'default',
      'execution-mode': execution.mode,
      operations: execution.mode !== 'local',
      locked: locking.lock !== null,
      'locked-reason': locking.lock?.reason ?? '',
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
      ...(Object.assign({}, ...contributions.map((part) => part.attributes?.(access))) as object),
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
      'locked-by': toLockedBy(locking.lock),
      vars: toMany('vars', permissions.canReadVariable ? variables.ids : []),
      'remote-state-consumers': {
        links: { related: `${self}/relationships/remote-state-consumers` },
      },
      'tag-bindings': { links: { related: `${self}/tag-bindings` } },
      'effective-tag-bindings': { links: { related: `${self}/effective-tag-bindings` } },
      ...(Object.assign(
        {},
        ...contributions.map((part) => part.relationships?.(access)),
      ) as object),
    },
    links: {
      self: `${API_PREFIX}/organizations/${organization.name}/workspaces/${workspace.name}`,
      'self-html': `/app/${organization.name}/workspaces/${workspace.name}`,
    },
  };
};
