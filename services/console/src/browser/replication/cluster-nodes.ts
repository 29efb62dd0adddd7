/** The clusters named by a replication status, as nodes of the drawing. */
import {
  type Health,
  healthOf,
  type Status,
  shownDuration,
  shownLag,
  shownValue,
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
    role: `primary${generation === undefined ? '' : `, generation ${shownValue(generation)}`}`,
    state: shownValue(status['state']),
    health: healthOf(status['state']),
    behind: '',
  };
};

const elsewhere = (status: Status): ClusterNode => {
  const [peer] = status.primaries ?? [];
  return {
    name: shownValue(peer?.['cluster_address'] ?? status['primary_cluster_addr']),
    role: 'primary',
    state: shownValue(status['connection_state']),
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
          name: shownValue(peer['node_id']),
          role: peer['filtered'] === true ? 'secondary, filtered' : 'secondary',
          state: `${shownValue(peer['connection_status'])}, clock ${shownDuration(peer['clock_skew_ms'])} off`,
          health: healthOf(peer['connection_status']),
          behind: shownLag(peer),
        })),
      }
    : {
        primary: elsewhere(status),
        secondaries: [
          {
            name: OWN,
            role: status.mode === 'bootstrapping' ? 'secondary, being filled' : 'secondary',
            state: shownValue(status['state']),
            health: healthOf(status['state']),
            behind: shownLag(status),
          },
        ],
      };
