import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { executionShape } from '../../../base/execution/domain/execution.ts';
import { retentionPolicyShape } from '../../../base/retention/domain/retention-policy.ts';
import { workspaceLockingShape } from './lock.ts';
import { tagBindingShape } from './tag-binding.ts';
import { workspaceAssessmentsShape } from './workspace-assessments.ts';
import { workspaceRunsShape } from './workspace-runs.ts';
import { workspaceStateShape } from './workspace-state.ts';

export const vcsRepositoryShape = Type.Object({
  /** "" follows the repository's default branch. */
  branch: Type.String(),
  /** `:org/:repo`. */
  identifier: Type.String(),
  ingressSubmodules: Type.Boolean(),
  oauthTokenId: Type.String(),
  tagsRegex: nullable(Type.String()),
});
export type VcsRepository = Shaped<typeof vcsRepositoryShape>;

export const workspaceSettingsShape = Type.Object({
  allowDestroyPlan: Type.Boolean(),
  assessmentsEnabled: Type.Boolean(),
  autoApply: Type.Boolean(),
  autoApplyRunTrigger: Type.Boolean(),
  autoDestroyActivityDuration: nullable(Type.String()),
  /** Whether the project's period applies when the workspace sets neither a time nor a period. */
  inheritsProjectAutoDestroy: Type.Boolean(),
  autoDestroyAtMs: nullable(Type.Number()),
  description: nullable(Type.String()),
  fileTriggersEnabled: Type.Boolean(),
  globalRemoteState: Type.Boolean(),
  projectRemoteState: Type.Boolean(),
  queueAllRuns: Type.Boolean(),
  runtimeVersion: Type.String(),
  speculativeEnabled: Type.Boolean(),
  structuredRunOutputEnabled: Type.Boolean(),
  triggerPatterns: Type.Array(Type.String()),
  triggerPrefixes: Type.Array(Type.String()),
  vcsRepo: nullable(vcsRepositoryShape),
  workingDirectory: nullable(Type.String()),
});
export type WorkspaceSettings = Shaped<typeof workspaceSettingsShape>;

export const autoDestroyStatusShape = Type.Enum(['queued', 'errored', 'nothing-to-destroy']);
export type AutoDestroyStatus = Shaped<typeof autoDestroyStatusShape>;

/** Outcome of the auto-destroy run that was due at one time. */
export const autoDestroyOutcomeShape = Type.Object({
  atMs: Type.Number(),
  status: autoDestroyStatusShape,
});
export type AutoDestroyOutcome = Shaped<typeof autoDestroyOutcomeShape>;

/** The newest uploaded configuration version whose runs can apply. */
export const workspaceConfigurationShape = Type.Object({
  /** `cv-…`. */
  currentId: Type.String(),
  hasReadme: Type.Boolean(),
});
export type WorkspaceConfiguration = Shaped<typeof workspaceConfigurationShape>;

/** Ids of the variables of a workspace (`var-…`), in order of creation. */
export const workspaceVariablesShape = Type.Object({ ids: Type.Array(Type.String()) });
export type WorkspaceVariables = Shaped<typeof workspaceVariablesShape>;

export const NO_VARIABLES: WorkspaceVariables = { ids: [] };

export const workspaceShape = Type.Object({
  id: Type.String(),
  organizationId: Type.String(),
  projectId: Type.String(),
  name: Type.String(),
  settings: workspaceSettingsShape,
  /** null inherits from the project, then the organization. */
  ownExecution: nullable(executionShape),
  source: Type.String(),
  sourceName: nullable(Type.String()),
  sourceUrl: nullable(Type.String()),
  /** Absent before the first lock, and once it is in a record of its own. */
  locking: Type.Optional(workspaceLockingShape),
  /** Own bindings in order of creation; those without a value are the flat tags. */
  tagBindings: Type.Array(tagBindingShape),
  sshKeyId: nullable(Type.String()),
  /** Absent before the first, and once they are in a record of their own. */
  variables: Type.Optional(workspaceVariablesShape),
  /** Absent before the first upload, and once it is in a record of its own. */
  configuration: Type.Optional(workspaceConfigurationShape),
  /** Absent once it is in a record of its own. */
  runs: Type.Optional(workspaceRunsShape),
  /** Absent before the first health assessment, and once it is in a record of its own. */
  assessments: Type.Optional(workspaceAssessmentsShape),
  /** The last one; absent before the first, and once it is in a record of its own. */
  autoDestroyed: Type.Optional(autoDestroyOutcomeShape),
  /** null uses the organization's policy. */
  retentionPolicy: nullable(retentionPolicyShape),
  createdAtMs: Type.Number(),
  updatedAtMs: Type.Number(),
  /** Absent once it is in a record of its own. */
  state: Type.Optional(workspaceStateShape),
});
export type Workspace = Shaped<typeof workspaceShape>;

export const DEFAULT_WORKSPACE_SETTINGS: Omit<WorkspaceSettings, 'runtimeVersion'> = {
  allowDestroyPlan: true,
  assessmentsEnabled: false,
  autoApply: false,
  autoApplyRunTrigger: false,
  autoDestroyActivityDuration: null,
  inheritsProjectAutoDestroy: true,
  autoDestroyAtMs: null,
  description: null,
  fileTriggersEnabled: true,
  globalRemoteState: false,
  projectRemoteState: false,
  queueAllRuns: false,
  speculativeEnabled: true,
  structuredRunOutputEnabled: true,
  triggerPatterns: [],
  triggerPrefixes: [],
  vcsRepo: null,
  workingDirectory: null,
};

/** Longest workspace name; the listing's index holds every suffix of it. */
export const MAX_NAME_LENGTH = 90;

export const isWorkspaceName = (name: string): boolean =>
  name.length <= MAX_NAME_LENGTH && /^[A-Za-z0-9_-]+$/.test(name);
