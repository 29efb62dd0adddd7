import type { WorkspaceAssessments } from '../../assessments/domain/assessment.ts';
import type { AutoDestroyOutcome } from '../../auto-destroy/domain/auto-destroy.ts';
import type { Lock } from '../../locking/domain/lock.ts';
import type { RetentionPolicy } from '../../retention/domain/retention-policy.ts';
import type { WorkspaceRuns } from '../../runs/domain/run-performance.ts';
import type { WorkspaceState } from '../../states/domain/state-version.ts';
import type { TagBinding } from '../../tags/domain/tag-binding.ts';
import type { Execution } from './execution.ts';

export interface VcsRepository {
  /** "" follows the repository's default branch. */
  readonly branch: string;
  /** `:org/:repo`. */
  readonly identifier: string;
  readonly ingressSubmodules: boolean;
  readonly oauthTokenId: string | null;
  readonly vcsAppInstallationId: string | null;
  readonly tagsRegex: string | null;
}

export interface WorkspaceSettings {
  readonly allowDestroyPlan: boolean;
  readonly assessmentsEnabled: boolean;
  readonly autoApply: boolean;
  readonly autoApplyRunTrigger: boolean;
  readonly autoDestroyActivityDuration: string | null;
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
   * The run (`run-…`) that lost the lock by force while an agent worked on it, until that phase ends: it may
   * still write states, and no other run takes its place. null: there is none.
   */
  readonly unlockedRunId: string | null;
  /** Own bindings in order of binding; key-only ones are the flat tags. */
  readonly tagBindings: readonly TagBinding[];
  readonly sshKeyId: string | null;
  /** In order of creation. */
  readonly variableIds: readonly string[];
  /** The newest uploaded one that runs apply. */
  readonly currentConfigurationVersionId: string | null;
  /** That configuration describes itself; absent before the first upload. */
  readonly hasReadme?: boolean;
  readonly runs: WorkspaceRuns;
  /** Absent before the first health assessment. */
  readonly assessments?: WorkspaceAssessments;
  /** What was done about the last time of self-destruction. */
  readonly autoDestroyed: AutoDestroyOutcome | null;
  /** null: the organization's holds. */
  readonly retentionPolicy: RetentionPolicy | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly state: WorkspaceState;
  /** Creation of the newest state version, or of the workspace. */
  readonly latestChangeAtMs: number;
}

export const DEFAULT_WORKSPACE_SETTINGS: Omit<WorkspaceSettings, 'runtimeVersion'> = {
  allowDestroyPlan: true,
  assessmentsEnabled: false,
  autoApply: false,
  autoApplyRunTrigger: false,
  autoDestroyActivityDuration: null,
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
