/** Who belongs to a replication set, and under which keys its primary speaks. */
import type { LinkKeyPair } from '../cipher/link-key.ts';

export interface SetIdentity {
  /** Id of the replication set: `cluster_id` of its status. */
  readonly clusterId: string;
  /** Of the log that is being published. Another primary, or a log that was set back, has another. */
  readonly logId: string;
  readonly keys: LinkKeyPair;
  /** How often another cluster took the lead of the set. */
  readonly promotion: number;
}

export interface EpochKey {
  readonly epoch: number;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

export interface AdmittedSecondary {
  readonly id: string;
  readonly publicKey: string;
  /** Older epochs are none of its business. */
  readonly firstEpoch: number;
}

/** What a paths filter keeps from a secondary. */
export interface FilterVerdict {
  /** Another one: a group that was let through is not any more, or the other way round. */
  readonly generation: string;
  /** Groups (`domain/record-groups.ts`) that do not cross. */
  readonly leftOut: readonly string[];
}

/** What a primary must know to publish and to answer. Every call tells the state of this moment. */
export interface Membership {
  /** @throws KeelsonError `replication.not_ready` when there is no set */
  identity(): Promise<SetIdentity>;
  /** The key for what is published from now on. */
  currentEpoch(): Promise<EpochKey>;
  findEpoch(epoch: number): Promise<EpochKey | undefined>;
  findSecondary(id: string): Promise<AdmittedSecondary | undefined>;
  /** All that are admitted and have no filter. */
  unfilteredSecondaries(): Promise<readonly AdmittedSecondary[]>;
  /** Gives the log a new id: what was published is not of this log. */
  renewLog(): Promise<void>;
  /**
   * Which of these groups a secondary is not given; absent: of all there are or were. undefined: it has no
   * filter, and is given everything.
   */
  findFilter(id: string, groups?: readonly string[]): Promise<FilterVerdict | undefined>;
  /** Ids of those that have a filter, whether or not they have connected. */
  filteredSecondaries(): Promise<readonly string[]>;
}
