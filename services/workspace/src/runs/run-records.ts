import type { Transaction } from '@keelson/storage';
import { keyedRecords } from '../records/keyed-records.ts';
import type { Run } from './domain/run.ts';

/** Keyed by `run-…`. */
export const runRecords = keyedRecords<Run>('shared/runs/');

/** Workspace id, run id: the runs that have not ended. */
export const openRuns = keyedRecords<{ readonly createdAtMs: number }>('shared/open-runs/');

/** Workspace id, run id. */
export const workspaceRuns = keyedRecords<Record<never, never>>('shared/workspace-runs/');

export type RunPhase = 'plan' | 'apply';

/** Plan and apply of a run carry its random part under prefixes of their own. */
export const toPhaseId = (runId: string, phase: RunPhase): string =>
  runId.replace('run-', `${phase}-`);

export interface RunLog {
  readonly chunkCount: number;
  readonly lengthBytes: number;
  readonly isComplete: boolean;
}

/** Keyed by `plan-…`, `apply-…`. */
export const runLogs = keyedRecords<RunLog>('shared/run-logs/');

/** Keyed by `plan-…` or `apply-…`, number from 0. */
export const runLogChunks = keyedRecords<{ readonly text: string }>('shared/run-log-chunks/');

const removeLogsOf = async (tx: Transaction, runId: string): Promise<void> => {
  for (const phase of ['plan', 'apply'] as const) {
    const phaseId = toPhaseId(runId, phase);
    const { chunkCount } = (await runLogs.find(tx, phaseId)) ?? { chunkCount: 0 };
    for (let index = 0; index < chunkCount; index += 1) {
      runLogChunks.delete(tx, phaseId, String(index));
    }
    runLogs.delete(tx, phaseId);
  }
};

/** With their workspace. */
export const removeRunsOf = async (tx: Transaction, workspaceId: string): Promise<void> => {
  for (const id of await workspaceRuns.keys(tx, [workspaceId])) {
    await removeLogsOf(tx, id);
    runRecords.delete(tx, id);
    workspaceRuns.delete(tx, workspaceId, id);
    openRuns.delete(tx, workspaceId, id);
  }
};
