/** The table behind listings of states, and behind their retention. */
import { defineProjection, type Projection } from '@keelson/storage';
import { stateVersionRecords } from './state-version-records.ts';

type StateVersionRow = {
  readonly id: string;
  readonly workspace_id: string;
  readonly status: string;
  readonly created_at: number;
};

/** Tables as queries see them. */
export interface StateVersionTables {
  readonly state_version: StateVersionRow;
}

export const STATE_VERSION_PROJECTIONS: readonly Projection[] = [
  defineProjection({
    table: 'state_version',
    version: 1,
    source: stateVersionRecords.collection,
    columns: { id: 'text', workspace_id: 'text', status: 'text', created_at: 'integer' },
    indexes: [
      ['workspace_id', 'created_at', 'id'],
      ['status', 'created_at', 'id'],
    ],
    rows: ({ id, workspaceId, status, createdAtMs }): StateVersionRow[] => [
      { id, workspace_id: workspaceId, status, created_at: createdAtMs },
    ],
  }) as unknown as Projection,
];
