/** The members of a replication set, and the keys that its primary encrypts with. */
import type { LinkKeyPair } from '../cipher/link-key.ts';
import type { AdmittedSecondary } from './membership-records.ts';

export interface SetIdentity {
  /** Id of the replication set: `cluster_id` of its status. */
  readonly clusterId: string;
  /** Id of the published log. Changes with the primary, and when a store is restored from an old copy. */
  readonly logId: string;
  readonly keys: LinkKeyPair;
  /** Number of promotions of another cluster to primary of the set. */
  readonly promotion: number;
}

export interface EpochKey {
  readonly epoch: number;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

/** The groups of records that a paths filter withholds from a secondary. */
export interface FilterVerdict {
  /** Changes whenever a group becomes withheld or stops being withheld. */
  readonly generation: string;
  /** Groups (`domain/record-groups.ts`) that do not cross. */
  readonly withheldGroups: readonly string[];
}

/**
 * The membership data that a primary needs for publishing and answering. Every call returns the
 * current state.
 */
export interface Membership {
  /** @throws KeelsonError `replication.not_ready` when there is no set */
  identity(): Promise<SetIdentity>;
  /** The key for entries published from now on. */
  currentEpoch(): Promise<EpochKey>;
  findEpoch(epoch: number): Promise<EpochKey | undefined>;
  findSecondary(id: string): Promise<AdmittedSecondary | undefined>;
  /** The admitted secondaries without a filter. */
  unfilteredSecondaries(): Promise<readonly AdmittedSecondary[]>;
  /** Gives the log a new id, so that entries published before do not belong to it. */
  renewLog(): Promise<void>;
  /**
   * Finds the groups withheld from a secondary, among the given ones or, if absent, among all past and
   * present ones; undefined if the secondary has no filter and receives everything.
   */
  findFilter(id: string, groups?: readonly string[]): Promise<FilterVerdict | undefined>;
  /** Ids of those that have a filter, whether or not they have connected. */
  filteredSecondaries(): Promise<readonly string[]>;
}
