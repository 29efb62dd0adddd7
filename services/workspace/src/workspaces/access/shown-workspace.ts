import type { Reads } from '@keelson/storage';
import { findAutoDestroyOutcome } from '../model/auto-destroy-records.ts';
import type { WorkspaceLocking } from '../model/domain/lock.ts';
import type {
  AutoDestroyOutcome,
  WorkspaceConfiguration,
  WorkspaceVariables,
} from '../model/domain/workspace.ts';
import type { WorkspaceAssessments } from '../model/domain/workspace-assessments.ts';
import type { WorkspaceRuns } from '../model/domain/workspace-runs.ts';
import type { WorkspaceState } from '../model/domain/workspace-state.ts';
import { findWorkspaceAssessments } from '../model/workspace-assessments-records.ts';
import { findWorkspaceConfiguration } from '../model/workspace-configuration-records.ts';
import { findWorkspaceLocking } from '../model/workspace-lock-records.ts';
import { findWorkspaceRuns } from '../model/workspace-runs-records.ts';
import { findWorkspaceState } from '../model/workspace-state-records.ts';
import { findWorkspaceVariables } from '../model/workspace-variables-records.ts';
import type { WorkspaceAccessResult } from './access-operations.ts';

/** A workspace with what its documents show and decisions about its settings do not need. */
export interface ShownWorkspace extends WorkspaceAccessResult {
  readonly locking: WorkspaceLocking;
  /** undefined before the first upload. */
  readonly configuration: WorkspaceConfiguration | undefined;
  readonly variables: WorkspaceVariables;
  readonly state: WorkspaceState;
  readonly runs: WorkspaceRuns;
  /** undefined before the first. */
  readonly assessments: WorkspaceAssessments | undefined;
  /** Outcome of the last auto-destroy that was due; null before the first. */
  readonly autoDestroyed: AutoDestroyOutcome | null;
}

/** @throws KeelsonError the same as `RecordCollection.find` */
export const loadShown = async (
  reads: Pick<Reads, 'readAs'>,
  access: WorkspaceAccessResult,
): Promise<ShownWorkspace> => ({
  ...access,
  locking: await findWorkspaceLocking(reads, access.workspace),
  configuration: await findWorkspaceConfiguration(reads, access.workspace),
  variables: await findWorkspaceVariables(reads, access.workspace),
  state: await findWorkspaceState(reads, access.workspace),
  runs: await findWorkspaceRuns(reads, access.workspace),
  assessments: await findWorkspaceAssessments(reads, access.workspace),
  autoDestroyed: await findAutoDestroyOutcome(reads, access.workspace),
});
