/** The table for lists of agents and for the search for silent ones. */
import { defineProjection, type Projection } from '@keelson/storage';
import { agentRecords } from '../../workspaces/model/agent-records.ts';

type AgentRow = {
  readonly id: string;
  readonly pool_id: string;
  /** 1: gone. */
  readonly has_ended: number;
  readonly last_ping_at: number;
  readonly created_at: number;
};

/** The tables under the names that queries use. */
export interface AgentTables {
  readonly agent: AgentRow;
}

export const AGENT_PROJECTIONS: readonly Projection[] = [
  defineProjection({
    table: 'agent',
    version: 1,
    source: agentRecords,
    columns: {
      id: 'text',
      pool_id: 'text',
      has_ended: 'integer',
      last_ping_at: 'integer',
      created_at: 'integer',
    },
    indexes: [
      ['pool_id', 'created_at', 'id'],
      ['has_ended', 'last_ping_at'],
    ],
    rows: ({ id, poolId, ended, lastPingAtMs, createdAtMs }): AgentRow[] => [
      {
        id,
        pool_id: poolId ?? '',
        has_ended: ended === null ? 0 : 1,
        last_ping_at: lastPingAtMs,
        created_at: createdAtMs,
      },
    ],
  }) as unknown as Projection,
];
