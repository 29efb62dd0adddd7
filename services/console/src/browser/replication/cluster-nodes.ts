/** The clusters named by a replication status, as nodes of the drawing. */
import {
  formatDuration,
  formatLag,
  formatValue,
  type Health,
  healthOf,
  type Status,
} from './replication-status.ts';

export interface ClusterNode {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly health: Health;
  /** Its lag; "" for the primary. */
  readonly behind: string;
}

const OWN = 'This cluster';

const asPrimary = (status: Status): ClusterNode => {
  const generation = status['ssct_generation_counter'];
  return {
    name: OWN,
    role: `primary${generation === undefined ? '' : `, generation ${formatValue(generation)}`}`,
    state: formatValue(status['state']),
    health: healthOf(status['state']),
    behind: '',
  };
};

const elsewhere = (status: Status): ClusterNode => {
  const [peer] = status.primaries ?? [];
  return {
    name: formatValue(peer?.['cluster_address'] ?? status['primary_cluster_addr']),
    role: 'primary',
    state: formatValue(status['connection_state']),
    health: healthOf(status['connection_state']),
    behind: '',
  };
};

/**
 * The primary is on the left, its secondaries on the right. @param status of a cluster in the set
 */
export const clusterNodes = (
  status: Status,
): { readonly primary: ClusterNode; readonly secondaries: readonly ClusterNode[] } =>
  status.mode === 'primary'
    ? {
        primary: asPrimary(status),
        secondaries: (status.secondaries ?? []).map((peer) => ({
          name: formatValue(peer['node_id']),
          role: peer['filtered'] === true ? 'secondary, filtered' : 'secondary',
          state: `${formatValue(peer['connection_status'])}, clock ${formatDuration(peer['clock_skew_ms'])} off`,
          health: healthOf(peer['connection_status']),
          behind: formatLag(peer),
        })),
      }
    : {
        primary: elsewhere(status),
        secondaries: [
          {
            name: OWN,
            role: status.mode === 'bootstrapping' ? 'secondary, being filled' : 'secondary',
            state: formatValue(status['state']),
            health: healthOf(status['state']),
            behind: formatLag(status),
          },
        ],
      };
