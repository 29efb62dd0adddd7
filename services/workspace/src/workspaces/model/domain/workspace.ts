import type { Execution } from '../../../base/execution/domain/execution.ts';
import type { RetentionPolicy } from '../../../base/retention/domain/retention-policy.ts';

import type { Lock } from './lock.ts';
import type { TagBinding } from './tag-binding.ts';
import type { WorkspaceAssessments } from './workspace-assessments.ts';
import type { WorkspaceRuns } from './workspace-runs.ts';
import type { WorkspaceState } from './workspace-state.ts';

export interface VcsRepository {
  /** "" follows the repository's default branch. */
  readonly branch: string;
  /** `:org/:repo`. */
  readonly identifier: string;
  readonly ingressSubmodules: boolean;
  readonly oauthTokenId: string;
  readonly tagsRegex: string | null;
}

export interface WorkspaceSettings {
  readonly allowDestroyPlan: boolean;
  readonly assessmentsEnabled: boolean;
  readonly autoApply: boolean;
  readonly autoApplyRunTrigger: boolean;
  readonly autoDestroyActivityDuration: string | null;
  /** Whether the project's period applies when the workspace sets neither a time nor a period. */
  readonly inheritsProjectAutoDestroy: boolean;
  readonly autoDestroyAtMs: number | null;
  readonly description: string | null;
  readonly fileTriggersEnabled: boolean;
  readonly globalRemoteState: boolean;
  readonly projectRemoteState: boolean;
  readonly queueAllRuns: boolean;
  readonly runtimeVersion: string;
  readonly speculativeEnabled: boolean;
  readonly structuredRunOutputEnabled: boolean;
  readonly triggerPatterns: readonly string[];
  readonly triggerPrefixes: readonly string[];
  readonly vcsRepo: VcsRepository | null;
  readonly workingDirectory: string | null;
}

export type AutoDestroyStatus = 'queued' | 'errored' | 'nothing-to-destroy';

/** Outcome of the auto-destroy run that was due at one time. */
export interface AutoDestroyOutcome {
  readonly atMs: number;
  readonly status: AutoDestroyStatus;
}

export interface Workspace {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly name: string;
  readonly settings: WorkspaceSettings;
  /** null inherits from the project, then the organization. */
  readonly ownExecution: Execution | null;
  readonly source: string;
  readonly sourceName: string | null;
  readonly sourceUrl: string | null;
  readonly lock: Lock | null;
  /**
   * The run (`run-…`) that lost the lock by force while an agent worked on it. Until its phase ends, the run
   * may still write states and no other run starts. null: there is none.
   */
  readonly unlockedRunId: string | null;
  /** Own bindings in order of creation; those without a value are the flat tags. */
  readonly tagBindings: readonly TagBinding[];
  readonly sshKeyId: string | null;
  /** In order of creation. */
  readonly variableIds: readonly string[];
  /** The newest uploaded configuration version whose runs can apply. */
  readonly currentConfigurationVersionId: string | null;
  /** Whether the current configuration has a README; absent before the first upload. */
  readonly hasReadme?: boolean;
  readonly runs: WorkspaceRuns;
  /** Absent before the first health assessment. */
  readonly assessments?: WorkspaceAssessments;
  /** Outcome of the last auto-destroy that was due. */
  readonly autoDestroyed: AutoDestroyOutcome | null;
  /** null uses the organization's policy. */
  readonly retentionPolicy: RetentionPolicy | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly state: WorkspaceState;
  /** Creation time of the newest state version, or of the workspace. */
  readonly latestChangeAtMs: number;
}

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
