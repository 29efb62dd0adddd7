/** The table for lists of states and for their retention. */
import { defineProjection, type Projection } from '@keelson/storage';
import { stateVersionRecords } from './state-version-records.ts';

type StateVersionRow = {
  readonly id: string;
  readonly workspace_id: string;
  readonly status: string;
  readonly number: number;
  readonly created_at: number;
};

/** The tables under the names that queries use. */
export interface StateVersionTables {
  readonly state_version: StateVersionRow;
}

export const STATE_VERSION_PROJECTIONS: readonly Projection[] = [
  defineProjection({
    table: 'state_version',
    version: 2,
    source: stateVersionRecords,
    columns: {
      id: 'text',
      workspace_id: 'text',
      status: 'text',
      number: 'integer',
      created_at: 'integer',
    },
    indexes: [
      ['workspace_id', 'number'],
      ['status', 'created_at', 'id'],
    ],
    rows: ({ id, workspaceId, status, number, createdAtMs }): StateVersionRow[] => [
      { id, workspace_id: workspaceId, status, number, created_at: createdAtMs },
    ],
  }) as unknown as Projection,
];
