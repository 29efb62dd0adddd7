/** The table behind lists of runs. */
import { defineProjection, type Projection } from '@keelson/storage';
import { toOperation } from './domain/run.ts';
import { runRecords } from './run-records.ts';

type RunRow = {
  readonly id: string;
  readonly organization_id: string;
  readonly workspace_id: string;
  readonly status: string;
  readonly source: string;
  readonly operation: string;
  readonly created_at: number;
};

/** Tables as queries see them. */
export interface RunTables {
  readonly run: RunRow;
}

export const RUN_PROJECTIONS: readonly Projection[] = [
  defineProjection({
    table: 'run',
    version: 1,
    source: runRecords.collection,
    columns: {
      id: 'text',
      organization_id: 'text',
      workspace_id: 'text',
      status: 'text',
      source: 'text',
      operation: 'text',
      created_at: 'integer',
    },
    indexes: [
      ['workspace_id', 'created_at', 'id'],
      ['organization_id', 'created_at', 'id'],
      ['organization_id', 'status', 'created_at', 'id'],
    ],
    rows: (run): RunRow[] => [
      {
        id: run.id,
        organization_id: run.organizationId,
        workspace_id: run.workspaceId,
        status: run.status,
        source: run.source,
        operation: toOperation(run),
        created_at: run.createdAtMs,
      },
    ],
  }) as unknown as Projection,
];
