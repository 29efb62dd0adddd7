/** The table for lists of configuration versions and for their retention. */
import { defineProjection, type Projection } from '@keelson/storage';
import { configurationVersionRecords } from './configuration-version-records.ts';

type ConfigurationVersionRow = {
  readonly id: string;
  readonly workspace_id: string;
  readonly status: string;
  readonly created_at: number;
};

/** The tables under the names that queries use. */
export interface ConfigurationVersionTables {
  readonly configuration_version: ConfigurationVersionRow;
}

export const CONFIGURATION_VERSION_PROJECTIONS: readonly Projection[] = [
  defineProjection({
    table: 'configuration_version',
    version: 1,
    source: configurationVersionRecords,
    columns: { id: 'text', workspace_id: 'text', status: 'text', created_at: 'integer' },
    indexes: [
      ['workspace_id', 'created_at', 'id'],
      ['status', 'created_at', 'id'],
    ],
    rows: ({ id, workspaceId, status, createdAtMs }): ConfigurationVersionRow[] => [
      { id, workspace_id: workspaceId, status, created_at: createdAtMs },
    ],
  }) as unknown as Projection,
];
