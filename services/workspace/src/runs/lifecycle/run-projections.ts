/** The table for lists of runs. */
import { defineProjection, type Projection } from '@keelson/storage';
import { toOperation, UNLISTED_OPERATIONS } from '../model/domain/run.ts';
import { runRecords } from '../model/run-records.ts';
import { toRunOrder } from './run-order.ts';

type RunRow = {
  readonly id: string;
  readonly organization_id: string;
  readonly workspace_id: string;
  readonly status: string;
  readonly source: string;
  readonly operation: string;
  readonly agent_pool_id: string;
  readonly created_by: string;
  /** "" for runs that no commit started. */
  readonly commit_sha: string;
  /** In lower case. */
  readonly message: string;
  readonly number: number;
  readonly created_at: number;
  /** Order among the runs of all workspaces; see `run-order.ts`. */
  readonly made_order: number;
  /** Milliseconds from its creation to the beginning of its plan; -1 before. */
  readonly queued_ms: number;
};

/** The tables under the names that queries use. */
export interface RunTables {
  /** Keyed by the path of the record. */
  readonly run: RunRow & { readonly record_path: string };
}

/** Tally key of the runs that lists show by default: see `UNLISTED_OPERATIONS`. */
export const listedKey = (ownerId: string, status?: string): string =>
  status === undefined ? `${ownerId}/listed` : `${ownerId}/listed/${status}`;

export const RUN_PROJECTIONS: readonly Projection[] = [
  defineProjection({
    table: 'run',
    version: 7,
    source: runRecords,
    columns: {
      id: 'text',
      organization_id: 'text',
      workspace_id: 'text',
      status: 'text',
      source: 'text',
      operation: 'text',
      agent_pool_id: 'text',
      created_by: 'text',
      commit_sha: 'text',
      message: 'text',
      number: 'integer',
      created_at: 'integer',
      made_order: 'integer',
      queued_ms: 'integer',
    },
    indexes: [
      ['workspace_id', 'number'],
      ['workspace_id', 'made_order'],
      ['organization_id', 'made_order', 'id'],
      ['organization_id', 'status', 'made_order', 'id'],
      ['status', 'made_order', 'id'],
    ],
    search: { column: 'message', scope: 'organization_id' },
    tallies: ({ organization_id, workspace_id, operation, status }: RunRow) =>
      UNLISTED_OPERATIONS.includes(operation)
        ? []
        : [organization_id, workspace_id].flatMap((id) => [listedKey(id), listedKey(id, status)]),
    rows: (run): RunRow[] => [
      {
        id: run.id,
        organization_id: run.organizationId,
        workspace_id: run.workspaceId,
        status: run.status,
        source: run.source,
        operation: toOperation(run),
        agent_pool_id: run.agentPoolId ?? '',
        created_by: run.createdById ?? '',
        commit_sha: run.commitSha ?? '',
        message: run.message.toLowerCase(),
        number: run.number,
        created_at: run.createdAtMs,
        made_order: toRunOrder(run),
        queued_ms:
          run.statusTimesMs.planning === undefined
            ? -1
            : run.statusTimesMs.planning - run.createdAtMs,
      },
    ],
  }) as unknown as Projection,
];
